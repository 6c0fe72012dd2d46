# Builds scupper as one static binary and puts it beside the tool it starts,
# bubblewrap. Both base images can be replaced, for example by a mirror's:
#
#   docker build --build-arg BUILD_IMAGE=golang:1.26 --build-arg BASE_IMAGE=debian:12-slim -t scupper .
#
# A sandbox in a container needs user namespaces, which the container runtime
# must permit; scupper says what is missing.
ARG BUILD_IMAGE=golang:1.26
ARG BASE_IMAGE=debian:12-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/scupper ./cmd/scupper

FROM ${BASE_IMAGE}
ARG VERSION=devel
LABEL org.opencontainers.image.title="scupper" \
      org.opencontainers.image.description="Gives an AI agent's sandbox exactly the network it was granted, and records what was done with it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 scupper
COPY --from=build /out/scupper /usr/local/bin/scupper
USER scupper
WORKDIR /home/scupper
ENTRYPOINT ["scupper"]
CMD ["--help"]
