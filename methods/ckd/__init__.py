"""Contrastive knowledge distillation: a student's vector must pick its own teacher vector."""
