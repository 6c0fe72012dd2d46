# Hosts that only these scenarios need.

service "name that begins as a granted one does" {
  host = "api.example.com.attacker.test"
}

service "name that ends as a granted one does" {
  host = "evilapi.example.com"
}

service "name that contains a granted one" {
  host = "api.example.com-evil.test"
}

service "the same name under another top level" {
  host = "api.example.org"
}

service "a neighbour" {
  host = "www.api.example.com"
}

service "the domain above" {
  host = "example.com"
}

service "metadata by the name that one cloud has for it" {
  host = "metadata.internal"
}
