# What apt asks of a Debian archive or a mirror of one: signed lists of a suite, indexes
# by their hash or by name, packages. A mirror serves files only; it has no neighbours.
# The names are readable on the wire where the mirror is http; the contents are signed.
#
# Free bits of the worst request: a package's path about 700, an index by hash 256.
# Archives on several hosts are several `use` blocks, renamed with `as`.

preset "apt" {
  version = 1
  summary = "update package lists and download packages"

  argument "mirror" {
    type     = url
    required = true
    example  = "http://deb.example.com/debian"
    about    = "the archive, as sources.list has it"
  }
  argument "suites" {
    type     = names
    required = true
    example  = "bookworm"
    about    = "the suites, as sources.list has them"
  }
  argument "components" {
    type    = names
    default = ["main", "contrib", "non-free", "non-free-firmware", "restricted", "universe", "multiverse"]
    example = "main"
    about   = "the components"
  }
  argument "architectures" {
    type    = names
    default = ["all", "amd64", "arm64", "armel", "armhf", "i386", "ppc64el", "riscv64", "s390x"]
    example = "amd64"
    about   = "the architectures; name \"all\" among them"
  }
  argument "sources" {
    type    = bool
    example = "true"
    about   = "source packages too"
  }

  at = mirror

  # Range and If-Modified-Since stay out: without them the answer is the whole file,
  # which apt takes as well.
  headers = {
    Accept            = "*/*"
    "Accept-Encoding" = "identity"
    "User-Agent"      = "apt (scupper)"
  }

  allow {
    methods = ["GET", "HEAD"]
    path    = "/dists/{suite}/{file}"
    where   = { suite = one_of(suites), file = one_of("InRelease", "Release", "Release.gpg") }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/dists/{suite}/{component}/binary-{architecture}/by-hash/{algorithm}/{hash}"
    where = {
      suite        = one_of(suites)
      component    = one_of(components)
      architecture = one_of(architectures)
      algorithm    = one_of("SHA256", "SHA512")
      hash         = regex("[0-9a-f]{64}|[0-9a-f]{128}")
    }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/dists/{suite}/{component}/{kind}/by-hash/{algorithm}/{hash}"
    where = {
      suite     = one_of(suites)
      component = one_of(components)
      kind      = one_of("source", "i18n", "dep11", "cnf")
      algorithm = one_of("SHA256", "SHA512")
      hash      = regex("[0-9a-f]{64}|[0-9a-f]{128}")
    }
  }

  # Archives without by-hash.
  allow {
    methods = ["GET", "HEAD"]
    path    = "/dists/{suite}/{component}/binary-{architecture}/{file}"
    where = {
      suite        = one_of(suites)
      component    = one_of(components)
      architecture = one_of(architectures)
      file         = regex("(Packages|Release)(\\.(xz|gz|bz2|lz4|zst))?")
    }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/dists/{suite}/{component}/{kind}/{file}"
    where = {
      suite     = one_of(suites)
      component = one_of(components)
      kind      = one_of("source", "i18n", "dep11", "cnf")
      file      = regex("(Sources|Release|Translation-[a-z]{2,3}(_[A-Z]{2})?|Components-[a-z0-9]{2,10}\\.yml|icons-[0-9]{2,3}x[0-9]{2,3}(@2)?\\.tar|Commands-[a-z0-9]{2,10})(\\.(xz|gz|bz2|lz4|zst))?")
    }
  }

  # A package's file has no epoch in its name. Security archives have a folder more.
  allow {
    methods = ["GET", "HEAD"]
    path    = "/pool/{component}/{prefix}/{source}/{package}_{version}_{architecture}.deb"
    where = {
      component    = one_of(components)
      prefix       = regex("(lib)?[a-z0-9]")
      source       = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      package      = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      version      = regex("[0-9A-Za-z.+~-]{1,52}")
      architecture = one_of(architectures)
    }
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/pool/updates/{component}/{prefix}/{source}/{package}_{version}_{architecture}.deb"
    where = {
      component    = one_of(components)
      prefix       = regex("(lib)?[a-z0-9]")
      source       = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      package      = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      version      = regex("[0-9A-Za-z.+~-]{1,52}")
      architecture = one_of(architectures)
    }
  }
  allow {
    when    = sources
    methods = ["GET", "HEAD"]
    path    = "/pool/{component}/{prefix}/{source}/{package}_{file}"
    where = {
      component = one_of(components)
      prefix    = regex("(lib)?[a-z0-9]")
      source    = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      package   = regex("[a-z0-9][a-z0-9+.-]{1,74}")
      file      = regex("[0-9A-Za-z.+~-]{1,52}\\.(dsc|diff\\.gz|(orig(-[a-z0-9-]{1,30})?\\.|debian\\.)?tar\\.(gz|xz|bz2)(\\.asc)?)")
    }
  }
}
