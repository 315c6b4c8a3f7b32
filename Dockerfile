# Two images with the environment of requirements.lock and torch: `docker build --target cpu .` or `--target cuda .`
FROM python:3.11-slim-bookworm AS base
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /sentbench
COPY . .

# PyPI's torch brings CUDA; run it with `--gpus all`.
FROM base AS cuda
RUN make .venv/.ready
ENV PATH=/sentbench/.venv/bin:$PATH
CMD ["sentbench", "--help"]

FROM base AS cpu
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
RUN make .venv/.ready
ENV PATH=/sentbench/.venv/bin:$PATH
CMD ["sentbench", "--help"]
