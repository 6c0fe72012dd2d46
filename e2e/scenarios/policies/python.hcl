# A Python project is installed: the index and its files, two hosts. The files' names
# and hashes are free, as far as their grammar goes; uploads are another path.

version = 1

grant "python-index" {
  reason     = "installs look up what versions there are"
  owner      = "data"
  host       = "pypi.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/simple/{name}/"
    where   = { name = one_of("example", "pip", "setuptools") }
  }

  limits {
    requests = 200
    download = "100MiB"
  }
}

grant "python-files" {
  reason     = "installs download wheels"
  owner      = "data"
  host       = "files.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/packages/{file}"
    where   = { file = regex("example-[0-9]\\.[0-9]\\.[0-9]-py3-none-any\\.whl(\\.metadata)?") }
  }

  limits {
    requests = 200
    download = "500MiB"
  }
}
