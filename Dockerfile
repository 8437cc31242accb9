# The program alone, not as root. Build: docker build --build-arg VERSION=v1.2.3 -t toolpost .
# Run: docker run --rm -i -v "$PWD/toolpost.json:/toolpost.json:ro" toolpost serve --stdio --config /toolpost.json
FROM golang:1.26-bookworm AS build
ARG VERSION=v0.0.0-container
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released=$VERSION" -o /toolpost ./cmd/toolpost

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /toolpost /toolpost
USER 65532:65532
ENTRYPOINT ["/toolpost"]
