# What the go command asks of a module proxy (golang.org/ref/mod#goproxy-protocol) and,
# through it, of a checksum database. Nothing there writes: the module path itself is
# what has to be limited, because a proxy fetches an unknown one from the host that it
# names, which may be anybody's.
#
# Free bits of the worst request: a module path of any host about 670 (128 characters)
# and a version about 250; with `modules` only what follows the prefix is free, and with
# the whole path of each module, only the version.

preset "go" {
  version = 1
  summary = "download modules, checked against a checksum database; no direct fetches, no version control"

  argument "proxy" {
    type     = url
    required = true
    example  = "https://go.example.com"
    about    = "the module proxy, with its path if it has one"
  }
  argument "sumdb" {
    type    = sumdb
    example = "sum.example.com"
    about   = "the checksum database as GOSUMDB has it, NAME or NAME+KEY; without it only what go.sum holds is accepted"
  }
  argument "sumdb_url" {
    type    = url
    example = "https://sum.example.com"
    about   = "where the checksum database is, for a proxy that does not pass it on"
  }
  argument "modules" {
    type    = go_modules
    example = "example.com/team"
    about   = "grant only these modules and those below them"
    missing = "modules of every host are granted: the proxy asks the host that a module path names, so that a path can carry data to anybody; list the modules or their common beginnings"
  }
  argument "toolchains" {
    type    = bool
    example = "true"
    about   = "let go.mod choose a newer toolchain, which is downloaded"
  }

  at = proxy

  headers = {
    Accept            = "*/*"
    "Accept-Encoding" = "identity"
    "User-Agent"      = "go (scupper)"
  }

  allow {
    methods = ["GET", "HEAD"]
    path    = "/{module...}/@v/list"
    where   = { module = go_module(modules) }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{module...}/@v/{version}.info"
    where   = { module = go_module(modules), version = go_version }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{module...}/@v/{version}.mod"
    where   = { module = go_module(modules), version = go_version }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{module...}/@v/{version}.zip"
    where   = { module = go_module(modules), version = go_version }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/{module...}/@latest"
    where   = { module = go_module(modules) }
  }

  # A toolchain is a module of this name; a version is v0.0.1-goVERSION.OS-ARCH.
  allow {
    when    = toolchains
    methods = ["GET", "HEAD"]
    path    = "/golang.org/toolchain/@v/{file}"
    where   = { file = regex("(list|v0\\.0\\.1-go[0-9]\\.[0-9]{1,3}(\\.[0-9]{1,3}|(rc|beta)[0-9]{1,2})?\\.[a-z0-9]{2,10}-[a-z0-9]{2,10}\\.(info|mod|zip))") }
  }
  allow {
    when    = [toolchains, sumdb]
    methods = ["GET", "HEAD"]
    path    = "/sumdb/{database}/lookup/golang.org/toolchain@{version}"
    where   = { database = sumdb, version = regex("v0\\.0\\.1-go[0-9]\\.[0-9]{1,3}(\\.[0-9]{1,3}|(rc|beta)[0-9]{1,2})?\\.[a-z0-9]{2,10}-[a-z0-9]{2,10}") }
  }

  # The checksum database, through the proxy.
  allow {
    when    = sumdb
    methods = ["GET", "HEAD"]
    path    = "/sumdb/{database}/supported"
    where   = { database = sumdb }
  }
  allow {
    when    = sumdb
    methods = ["GET", "HEAD"]
    path    = "/sumdb/{database}/latest"
    where   = { database = sumdb }
  }
  allow {
    when    = sumdb
    methods = ["GET", "HEAD"]
    path    = "/sumdb/{database}/lookup/{module...}@{version}"
    where   = { database = sumdb, module = go_module(modules), version = go_version }
  }
  # A tile has a level and a number of three digits in each part; the last one may be
  # a part of a tile (golang.org/x/mod/sumdb/tlog, Tile.Path).
  allow {
    when    = sumdb
    methods = ["GET", "HEAD"]
    path    = "/sumdb/{database}/tile/8/{tile...}"
    where   = { database = sumdb, tile = regex("[0-7]/(x[0-9]{3}/){0,3}[0-9]{3}(\\.p/[0-9]{1,3})?") }
  }

  # The checksum database, directly.
  allow {
    at      = sumdb_url
    methods = ["GET", "HEAD"]
    path    = "/latest"
  }
  allow {
    at      = sumdb_url
    methods = ["GET", "HEAD"]
    path    = "/lookup/{module...}@{version}"
    where   = { module = go_module(modules), version = go_version }
  }
  allow {
    at      = sumdb_url
    methods = ["GET", "HEAD"]
    path    = "/tile/8/{tile...}"
    where   = { tile = regex("[0-7]/(x[0-9]{3}/){0,3}[0-9]{3}(\\.p/[0-9]{1,3})?") }
  }

  # GOPROXY without "direct": an answer of 404 or 410 makes the go command ask the next
  # entry, and there is none. "none" is a pattern that no module matches, and wins over
  # what an image has set. -mod=readonly is the default already; as a flag it would
  # break projects that vendor.
  environment = {
    GOPROXY     = proxy
    GOSUMDB     = words(sumdb, sumdb_url)
    GOPRIVATE   = "none"
    GONOPROXY   = "none"
    GONOSUMDB   = "none"
    GOVCS       = "*:off"
    GOTOOLCHAIN = choose(toolchains, "auto", "local")
  }
}
