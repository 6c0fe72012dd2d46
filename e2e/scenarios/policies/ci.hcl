# A pipeline that builds and tests and publishes nothing: packages, modules, the source,
# and reports about itself to its own project of a service that has many.

version = 1

credential "telemetry" {
  source { env = "TELEMETRY_KEY" }
  header "X-Sentry-Auth" { value = "Sentry sentry_key=${secret}" }
  expose = "TELEMETRY_KEY"
}

use "npm" {
  reason   = "CI installs what the lockfile names"
  owner    = "platform"
  registry = "https://npm.example.com"
  lockfile = "package-lock.json"

  limits {
    requests = 500
    download = "500MiB"
  }
}

use "go" {
  reason  = "CI downloads the modules that go.mod names"
  owner   = "platform"
  proxy   = "https://go.example.com"
  modules = ["example.com/acme", "example.com/lib"]

  limits {
    requests = 2000
    download = "2GiB"
  }
}

use "git" {
  reason       = "CI fetches the source"
  owner        = "platform"
  url          = "https://git.example.com"
  repositories = ["acme/app"]
  credential   = anonymous

  limits {
    requests = 50
    upload   = "1MiB"
    download = "500MiB"
  }
}

grant "images" {
  reason     = "CI pulls its base image"
  owner      = "platform"
  host       = "oci.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/v2/acme/base/manifests/{tag}"
    where   = { tag = one_of("stable", "next") }
    headers = { Accept = one_of("application/vnd.oci.image.manifest.v1+json", "*/*") }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/v2/acme/base/blobs/sha256:{digest}"
    where   = { digest = sha256 }
  }

  limits {
    requests = 100
    download = "2GiB"
  }
}

grant "report-builds" {
  reason     = "the pipeline says how builds end"
  owner      = "platform"
  host       = "telemetry.example.com"
  credential = credential.telemetry

  allow {
    methods = ["POST"]
    path    = "/api/4711/store/"
    body {
      type   = "application/json"
      max    = "4KiB"
      schema = file("telemetry.schema.json")
    }
  }

  limits {
    requests = 20
    upload   = "64KiB"
  }
}

sandbox {
  processes = 512
  time      = "30m"
}
