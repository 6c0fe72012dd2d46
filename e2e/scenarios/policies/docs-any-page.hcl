# Documentation whose pages nobody lists. The name of a page is free: twelve letters,
# and forty-eight bits or so, a request. The scenarios measure what that comes to; the
# number of requests is what stops it.

version = 1

grant "documentation" {
  reason     = "the agent reads a manual that grows every day"
  owner      = "dev-tools"
  host       = "docs.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/manual/{page}.html"
    where   = { page = regex("[a-z0-9]{1,12}") }
  }

  limits {
    requests = 2
    download = "50MiB"
  }
}

grant "pictures" {
  reason     = "pages show pictures out of a set; which ones, and in what order, is free"
  owner      = "dev-tools"
  host       = "images.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/set/{letter}.gif"
    where   = { letter = regex("[a-z2-7]") }
  }

  limits {
    requests = 10
    download = "1MiB"
  }
}

use "npm" {
  reason   = "packages of any name, but not many"
  owner    = "front-end"
  registry = "https://npm.example.com"

  limits {
    requests = 2
    download = "50MiB"
  }
}
