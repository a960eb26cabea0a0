# Targets: `web` (the service), `worker` (builds and, where it is given a GPU, measures).
FROM python:3.12-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/kerneljudge
COPY pyproject.toml README.md ./
COPY kerneljudge kerneljudge
COPY kernels kernels
COPY app app
COPY workers workers

FROM base AS web
COPY frontend frontend
COPY docs docs
RUN pip install -e '.[app,postgres]' \
    && useradd --system --no-create-home --uid 990 judge \
    && install -d -o judge /var/lib/kerneljudge
ENV KERNELJUDGE_DATA_DIR=/var/lib/kerneljudge KERNELJUDGE_HOST=0.0.0.0 KERNELJUDGE_LOG=json \
    KERNELJUDGE_ACCOUNTS=invite
USER 990
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
CMD ["python", "-m", "app"]

FROM base AS worker
# For a host that only builds, TORCH=torch==2.13.0+cpu and the index of CPU builds save gigabytes.
ARG TORCH=torch==2.13.0
ARG EXTRA_INDEX=
# hadolint ignore=DL3013
RUN PIP_EXTRA_INDEX_URL=$EXTRA_INDEX pip install "$TORCH" \
    && pip install -e '.[workers,gpu]' \
    && install -d /var/lib/kerneljudge
ENV KERNELJUDGE_DATA_DIR=/var/lib/kerneljudge KERNELJUDGE_LOG=json
# Root in the container, since each submission gets a user of its own; what it needs besides is in
# docker-compose.yml.
HEALTHCHECK --interval=15s --timeout=10s --start-period=90s CMD ["python", "-m", "workers.alive"]
CMD ["python", "-m", "workers"]
