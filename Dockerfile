# reeltree in a container: the page, then the binary, then a slim image with
# Debian's FFmpeg 5.1 and nothing else.
#
#   docker build -t reeltree .
#   docker run -p 127.0.0.1:8400:8400 -v reeltree:/data -e REELTREE_TOKEN=choose-one reeltree
#
# Inside a container the service listens on every interface, so it asks for a token.

FROM node:22-bookworm-slim AS page
WORKDIR /src/web/page
COPY web/page/package.json web/page/package-lock.json web/page/.npmrc ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY web/page ./
RUN npm run --silent build

FROM golang:1.26-bookworm AS binary
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev pkg-config \
      libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libswresample-dev \
      libavfilter-dev libavdevice-dev libpostproc-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=page /src/web/static/dist web/static/dist
ARG VERSION=container
RUN go build -trimpath -ldflags "-s -w -X github.com/reeltree/reeltree/cli.Version=$VERSION" -o /reeltree .

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
      libavcodec59 libavformat59 libavutil57 libswscale6 libswresample4 \
      libavfilter8 libavdevice59 libpostproc56 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data reeltree \
    && install -d -o reeltree -g reeltree -m 700 /data
COPY --from=binary /reeltree /usr/local/bin/reeltree
USER reeltree
ENV REELTREE_DATA=/data REELTREE_LISTEN=0.0.0.0:8400
VOLUME /data
EXPOSE 8400
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["reeltree", "health", "--server", "http://127.0.0.1:8400"]
ENTRYPOINT ["reeltree"]
CMD ["serve"]
