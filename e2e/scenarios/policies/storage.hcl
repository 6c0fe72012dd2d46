# One folder of one bucket, in both ways of addressing it. Other buckets at the same
# host are other tenants', and a signed URL is somebody's credential.

version = 1

credential "storage" {
  source { env = "STORAGE_TOKEN" }
  header "Authorization" { value = "Bearer ${secret}" }
  expose = "STORAGE_TOKEN"
}

grant "artifacts" {
  reason     = "builds fetch and leave artifacts"
  owner      = "platform"
  host       = "storage.example.com"
  credential = credential.storage

  allow {
    methods = ["GET", "HEAD"]
    path    = "/acme-artifacts/builds/{number}/{file}"
    where   = { number = int, file = one_of("app.tar.gz", "report.json") }
  }
  allow {
    methods = ["PUT"]
    path    = "/acme-artifacts/builds/{number}/report.json"
    where   = { number = int }
    body {
      type   = "application/json"
      max    = "64KiB"
      schema = file("report.schema.json")
    }
  }

  limits {
    requests = 100
    upload   = "1MiB"
    download = "1GiB"
  }
}

grant "artifacts-by-host" {
  reason     = "some clients put the bucket into the host"
  owner      = "platform"
  host       = "acme-artifacts.storage.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/builds/{number}/{file}"
    where   = { number = int, file = one_of("app.tar.gz", "report.json") }
  }

  limits {
    requests = 100
    download = "1GiB"
  }
}

grant "objects-with-slashes" {
  reason     = "the JSON interface has an object's whole name in one segment"
  owner      = "platform"
  host       = "cdn.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/b/acme-artifacts/o/builds%2f{number}%2fapp.tar.gz"
    where   = { number = int }
  }

  limits {
    requests = 100
    download = "1GiB"
  }
}
