"""SimCSE with a shortened second view and a decreasing temperature: augmentation, views and schedule."""

from pydantic import Field

from methods.core.losses import info_nce
from methods.core.method import Method, MethodConfig
from methods.core.token_edits import delete_inside
from methods.core.types import Loss


class Config(MethodConfig):
    temperature: float = Field(0.05, gt=0)
    start: float = Field(0.1, gt=0, description="temperature of the first step")
    share: float = Field(0.1, ge=0, lt=1, description="share of the tokens that the second view lacks")


class TwoViews(Method):
    Config = Config

    def collate(self, rows, *, step, rng):
        whole = self.token_ids(rows)
        shorter = [delete_inside(ids, rng, share=self.config.share, first_occurrence=False) for ids in whole]
        done = step / max(1, self.total_steps - 1)  # 0 in the first step, 1 in the last
        temperature = self.config.start + done * (self.config.temperature - self.config.start)
        return {
            "anchor": self.encoder.pad(whole),
            "positive": self.encoder.pad(shorter),
            "temperature": temperature,
        }

    def loss(self, batch):
        first, second = self.encoder(batch["anchor"]), self.encoder(batch["positive"])
        return Loss(info_nce(first, second, temperature=batch["temperature"]), {})
