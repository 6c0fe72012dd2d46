# Installs with the clients that people use: they have to work under the policies that
# stop the attacks.

service "modules" {
  host = "go.example.com"
  respond {
    path = "/example.com/lib/@v/list"
    body = "v1.0.0\n"
  }
  respond {
    path    = "/example.com/lib/@v/v1.0.0.info"
    headers = { Content-Type = "application/json" }
    body    = "{\"Version\":\"v1.0.0\",\"Time\":\"2026-01-02T03:04:05Z\"}"
  }
  respond {
    path = "/example.com/lib/@v/v1.0.0.mod"
    body = "module example.com/lib\n\ngo 1.21\n"
  }
  respond {
    path        = "/example.com/lib/@v/v1.0.0.zip"
    headers     = { Content-Type = "application/zip" }
    body_base64 = "UEsDBBQAAAAIAIMYIlzZ9SwbIgAAACAAAAAdAAAAZXhhbXBsZS5jb20vbGliQHYxLjAuMC9nby5tb2TLzU8pzUlVSK1IzC3ISdVLzs/Vz8lM4uJKz1cw1DMy5AIAUEsDBBQAAAAIAIMYIlx5tB9cVgAAAGcAAAAdAAAAZXhhbXBsZS5jb20vbGliQHYxLjAuMC9saWIuZ2/T11cISEzOTkxPVcjJTFIoTqwsVshIzcnJ1+MqQIhzcenrK3iAhBUyixUSFdKLUlNLMvPS9bjSSvOSITIamgrFJUVAQYVqhaLUktKiPAUlsElKCrVcAFBLAQIUAxQAAAAIAIMYIlzZ9SwbIgAAACAAAAAdAAAAAAAAAAAAAACAAQAAAABleGFtcGxlLmNvbS9saWJAdjEuMC4wL2dvLm1vZFBLAQIUAxQAAAAIAIMYIlx5tB9cVgAAAGcAAAAdAAAAAAAAAAAAAACAAV0AAABleGFtcGxlLmNvbS9saWJAdjEuMC4wL2xpYi5nb1BLBQYAAAAAAgACAJYAAADuAAAAAAA="
  }
}

service "wheels" {
  host = "files.example.com"
  respond {
    path        = "/packages/example-1.0.0-py3-none-any.whl"
    headers     = { Content-Type = "application/octet-stream" }
    body_base64 = "UEsDBBQAAAAIAIMYIlzmoAsjEwAAABEAAAAKAAAAZXhhbXBsZS5wefNz9HVVsFVQSq1IzC3ISVXiAgBQSwMEFAAAAAgAgxgiXKS3BZsuAAAAMwAAACAAAABleGFtcGxlLTEuMC4wLmRpc3QtaW5mby9NRVRBREFUQfNNLUlMSSxJ1A1LLSrOzM+zUjDSM+TyS8xNtVJIrUjMLchJ5YJLGeoZ6BlwAQBQSwMEFAAAAAgAgxgiXDfhrKBNAAAASwAAAB0AAABleGFtcGxlLTEuMC4wLmRpc3QtaW5mby9XSEVFTAvPSE3N0Q1LLSrOzM+zUjDUM+ByT81LLUosyS+yUshIzEvhCsrPL9H1LNYNKC1KzclMslIoKSpN5QpJTLdSKKg01s3Lz0vVTcyr5AIAUEsDBBQAAAAIAIMYIlw+7fODxAAAAA0BAAAeAAAAZXhhbXBsZS0xLjAuMC5kaXN0LWluZm8vUkVDT1JEdczBboIwGADgu89S3N8RrD3sgLaITleFLuIuTQ2wMsdqw7aCT++SxaP57l/V6/b8WY3PA+qMfowmTw5K0zglVzWhk51utXepJ9uQdcvLwQD43enoa7HoekCYjKr/IMBj+FM23XfQfNX2YcNlzGIZ39qwqIpM2reToGut29mWfyjNbEnxxSdCp5QHZrPC5KWdogjfbfcp5+vbqV2xSI7w2pufgedDrmwCuZoCBfH+rNz8d7ZktpGQh4BIdPfM+FxkDKHRFVBLAQIUAxQAAAAIAIMYIlzmoAsjEwAAABEAAAAKAAAAAAAAAAAAAACAAQAAAABleGFtcGxlLnB5UEsBAhQDFAAAAAgAgxgiXKS3BZsuAAAAMwAAACAAAAAAAAAAAAAAAIABOwAAAGV4YW1wbGUtMS4wLjAuZGlzdC1pbmZvL01FVEFEQVRBUEsBAhQDFAAAAAgAgxgiXDfhrKBNAAAASwAAAB0AAAAAAAAAAAAAAIABpwAAAGV4YW1wbGUtMS4wLjAuZGlzdC1pbmZvL1dIRUVMUEsBAhQDFAAAAAgAgxgiXD7t84PEAAAADQEAAB4AAAAAAAAAAAAAAIABLwEAAGV4YW1wbGUtMS4wLjAuZGlzdC1pbmZvL1JFQ09SRFBLBQYAAAAABAAEAB0BAAAvAgAAAAA="
  }
}

service "archive" {
  host = "apt.example.com"
  respond {
    path = "/debian/dists/bookworm/Release"
    body = "Origin: example\nSuite: bookworm\nCodename: bookworm\nArchitectures: amd64 all\nComponents: main\nDate: Mon, 30 Nov 2026 00:00:00 UTC\nSHA256:\n c904af75e73cb730ba49841d52e370252e3df8223dd58ad5291a2d7ff6220f95 235 main/binary-amd64/Packages\n"
  }
  respond {
    path = "/debian/dists/bookworm/main/binary-amd64/Packages"
    body = "Package: hello\nVersion: 1.0\nArchitecture: all\nMaintainer: Team <team@example.com>\nFilename: pool/main/h/hello/hello_1.0_all.deb\nSize: 514\nSHA256: 2077c028320ea2068d9c3081cdf6c37ea86192cdc5193595ab7c341d5f0b03dd\nDescription: a greeting\n"
  }
  respond {
    path        = "/debian/pool/main/h/hello/hello_1.0_all.deb"
    body_base64 = "ITxhcmNoPgpkZWJpYW4tYmluYXJ5ICAgMCAgICAgICAgICAgMCAgICAgMCAgICAgMTAwNjQ0ICA0ICAgICAgICAgYAoyLjAKY29udHJvbC50YXIuZ3ogIDAgICAgICAgICAgIDAgICAgIDAgICAgIDEwMDY0NCAgMTkwICAgICAgIGAKH4sIAAAAAAAC/+3MwWrDMAzGcZ/9FH6CLN3cFsIoG+w66GH0boxIzJw4OA7s8WdS2GHnrZf+fyB9Qgg1Dz5NJaeo/k9bHazdsvqd7W7/+DNf90drn5Rp1Q2sS3HZGHWnzs5/ul46M0iMSV8kLyFNndk1rX7NfghFfFlzPXAx6ncXplJLcmc+xI3mudT+Il9unKM0Po0n/SaLz2Eu2xtn+ixSwtRrBQAAAAAAAAAAAAAAAAD4Q9+THq48ACgAAGRhdGEudGFyLmd6ICAgICAwICAgICAgICAgICAwICAgICAwICAgICAxMDA2NDQgIDEzMiAgICAgICBgCh+LCAAAAAAAAv/t0TEKg0AQheGpPcWewBlF7QOxtMkNJAorCMKu3j+rjZA6CMH/48Ebpn25bjFo9H0YdVje6sd5XvTVPp5dKz9iSVNVRyffbVY0573/i7K2UpzJBba49sE5uanVT9GlHLtnAgAAAAAAAAAAAAAAAAD4Ex8Y3C4dACgAAA=="
  }
  respond {
    path   = "*"
    status = 404
    body   = "not found"
  }
}

scenario "npm-installs-packages" {
  describe = "npm install of two packages, one of them scoped"
  cases    = ["USE-01", "USE-09", "USE-26"]
  policy   = "policies/npm.hcl"
  needs    = ["npm"]
  given {
    file "package.json" { text = json({ name = "app", version = "1.0.0", dependencies = { "left-pad" = "1.0.0", "@acme/app" = "1.0.0" } }) }
  }
  attempt {
    run { command = ["npm", "install", "--loglevel", "error"] }
  }
  attempt {
    run { command = ["node", "-e", "console.log(require('left-pad'), require('@acme/app'))"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "left-pad @acme/app"
  }
}

scenario "npm-ci-under-a-lockfile" {
  describe = "npm ci asks for nothing but what the lockfile names"
  cases    = ["USE-09", "USE-26"]
  policy   = "policies/npm-locked.hcl"
  needs    = ["npm"]
  given {
    file "package.json" { text = json({ name = "front-end", version = "1.0.0", dependencies = { "left-pad" = "1.0.0" } }) }
    file "package-lock.json" { text = json({ name = "front-end", version = "1.0.0", lockfileVersion = 3, requires = true, packages = { "" = { name = "front-end", version = "1.0.0", dependencies = { "left-pad" = "1.0.0" } }, "node_modules/left-pad" = { version = "1.0.0", resolved = "https://npm.example.com/left-pad/-/left-pad-1.0.0.tgz" } } }) }
  }
  attempt {
    run { command = ["sh", "-c", "npm ci --loglevel error && node -e \"console.log(require('left-pad'))\""] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "left-pad"
    arrives = ["GET https://npm.example.com/left-pad/-/left-pad-1.0.0.tgz"]
  }
}

scenario "npm-shows-a-package" {
  describe = "npm view reads what versions there are"
  cases    = ["USE-09"]
  policy   = "policies/npm.hcl"
  needs    = ["npm"]
  attempt {
    run { command = ["npm", "view", "left-pad", "version", "--loglevel", "error"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "1.0.0"
  }
}

scenario "scoped-names-in-three-spellings" {
  describe = "the slash of a scope, as npm, pnpm and yarn write it"
  cases    = ["PATH-03"]
  policy   = "policies/npm.hcl"
  for_each = {
    npm    = "https://npm.example.com/@acme%2fapp"
    pnpm   = "https://npm.example.com/@acme%2Fapp"
    plain  = "https://npm.example.com/@acme/app"
  }
  attempt {
    http { url = each.value }
  }
  expect {
    verdict = "allow"
    status  = 200
    output  = "@acme/app"
  }
}

scenario "tarballs-of-npm" {
  describe = "files of packages, and what an interrupted download goes on with"
  cases    = ["USE-35"]
  policy   = "policies/npm.hcl"
  for_each = {
    whole  = "https://npm.example.com/left-pad/-/left-pad-1.0.0.tgz"
    scoped = "https://npm.example.com/@acme/app/-/app-1.0.0.tgz"
    yarn   = "https://npm.example.com/@acme%2fapp/-/app-1.0.0.tgz"
  }
  attempt {
    http { url = each.value }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "go-downloads-a-module" {
  describe = "the go command downloads a module, and its versions"
  cases    = ["USE-02", "USE-28"]
  policy   = "policies/go.hcl"
  needs    = ["go"]
  given {
    file "go.mod" { text = "module example.com/app\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n" }
  }
  attempt {
    run { command = ["sh", "-c", "export HOME=$PWD GOFLAGS=-modcacherw GONOSUMDB=* GOSUMDB=off; go mod download -json example.com/lib"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "\"Version\": \"v1.0.0\""
    arrives = ["GET https://go.example.com/example.com/lib/@v/v1.0.0.*"]
  }
}

scenario "go-lists-versions" {
  describe = "go list -m -versions"
  cases    = ["USE-28"]
  policy   = "policies/ci.hcl"
  needs    = ["go"]
  given {
    file "go.mod" { text = "module example.com/app\n\ngo 1.21\n" }
  }
  attempt {
    run { command = ["sh", "-c", "export HOME=$PWD GOFLAGS=-modcacherw GOSUMDB=off; go list -m -versions example.com/lib"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "example.com/lib v1.0.0"
  }
}

scenario "pip-downloads-a-wheel" {
  describe = "pip reads the index and downloads the wheel"
  cases    = ["USE-10", "USE-13"]
  policy   = "policies/python.hcl"
  needs    = ["python3"]
  attempt {
    run { command = ["sh", "-c", "python3 -m pip --disable-pip-version-check download -q --no-deps --no-cache-dir --index-url https://pypi.example.com/simple/ example==1.0.0 && ls *.whl"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "example-1.0.0-py3-none-any.whl"
  }
}

scenario "apt-updates-and-downloads" {
  describe = "apt-get update and download in the clear, with a configuration of its own"
  cases    = ["USE-21"]
  policy   = "policies/apt.hcl"
  needs    = ["apt-get"]
  given {
    file "sources.list" { text = "deb [trusted=yes] http://apt.example.com/debian bookworm main\n" }
  }
  attempt {
    run { command = ["sh", "-c", "mkdir -p a/etc/apt/sources.list.d a/etc/apt/preferences.d a/etc/apt/apt.conf.d a/var/lib/apt/lists/partial a/var/cache/apt/archives/partial && touch a/status && cp sources.list a/etc/apt/ && printf 'Dir \"%s/a\";\\nDir::State::status \"%s/a/status\";\\nAPT::Architecture \"amd64\";\\nAPT::Architectures { \"amd64\"; };\\nAcquire::Languages \"none\";\\nAcquire::EnableSrvRecords \"false\";\\nAPT::Sandbox::User \"\";\\n' $PWD $PWD > apt.conf && export APT_CONFIG=$PWD/apt.conf && apt-get -q update && apt-get -q download hello && ls *.deb"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "hello_1.0_all.deb"
    arrives = ["GET http://apt.example.com/debian/*"]
  }
}

scenario "image-is-pulled" {
  describe = "manifest and layer of the base image"
  cases    = ["USE-05", "USE-12"]
  policy   = "policies/ci.hcl"
  for_each = {
    manifest = "GET https://oci.example.com/v2/acme/base/manifests/stable"
    layer    = "GET https://oci.example.com/v2/acme/base/blobs/sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    head     = "HEAD https://oci.example.com/v2/acme/base/manifests/next"
  }
  attempt {
    http {
      method = each.key == "head" ? "HEAD" : "GET"
      url    = { manifest = "https://oci.example.com/v2/acme/base/manifests/stable", layer = "https://oci.example.com/v2/acme/base/blobs/sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", head = "https://oci.example.com/v2/acme/base/manifests/next" }[each.key]
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = [each.value]
  }
}

scenario "packages-of-an-archive" {
  describe = "lists and packages of a Debian archive, with the letters that apt encodes"
  cases    = ["USE-21", "USE-12"]
  policy   = "policies/apt.hcl"
  for_each = {
    release = "http://apt.example.com/debian/dists/bookworm/Release"
    list    = "http://apt.example.com/debian/dists/bookworm/main/binary-amd64/Packages"
    package = "http://apt.example.com/debian/pool/main/h/hello/hello_1.0_all.deb"
  }
  attempt {
    http { url = each.value }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}
