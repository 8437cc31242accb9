# Two images, both without root: "full" has Node and uv, so servers that npx and uvx start
# run in it; the last one has the program alone, for servers at addresses.
#
#   docker build --build-arg VERSION=v1.2.3 -t toolpost .
#   docker build --build-arg VERSION=v1.2.3 --target full -t toolpost:full .
#   docker run --rm -i -v "$PWD/toolpost.json:/toolpost.json:ro" toolpost serve --stdio --config /toolpost.json
ARG UV=ghcr.io/astral-sh/uv:0.13.9
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG VERSION=v0.0.0-container
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released=$VERSION" -o /toolpost ./cmd/toolpost
RUN mkdir -p /empty/data

FROM $UV AS uv

FROM node:22-trixie-slim AS full
LABEL io.modelcontextprotocol.server.name="io.github.toolpost/toolpost"
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 65532 --create-home --home-dir /data toolpost
COPY --from=uv /uv /uvx /usr/local/bin/
COPY --from=build /toolpost /toolpost
ENV UV_PYTHON_DOWNLOADS=never
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/toolpost"]

FROM scratch
LABEL io.modelcontextprotocol.server.name="io.github.toolpost/toolpost"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /empty/ /
COPY --from=build /toolpost /toolpost
ENV HOME=/data
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/toolpost"]
