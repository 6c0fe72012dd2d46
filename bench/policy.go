package main

import (
	"fmt"
	"strings"
)

// loadPolicy grants what the workloads ask for, among a thousand rules for others.
func loadPolicy() string {
	var b strings.Builder
	fmt.Fprintf(&b, `version = 1

grant "bench" {
  reason     = "the benchmark's own requests"
  owner      = "bench"
  host       = %q
  port       = 8443
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/v1/items/{id}"
  }
  allow {
    methods = ["GET"]
    path    = "/bulk/{bytes}"
    where   = { bytes = int }
  }
  allow {
    methods = ["POST"]
    path    = "/bulk"
    body {
      type = "application/octet-stream"
      max  = "2GiB"
    }
  }
}
`, originName)
	for service := range 100 {
		fmt.Fprintf(&b, "\ngrant \"service-%d\" {\n  reason     = \"weight\"\n  owner      = \"bench\"\n  host       = \"svc%[1]d.example.com\"\n  credential = anonymous\n", service)
		for thing := range 10 {
			fmt.Fprintf(&b, "  allow {\n    methods = [\"GET\"]\n    path    = \"/v1/projects/{project}/things%d/{rest...}\"\n  }\n", thing)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// npmPolicy grants installs from the registry.
func npmPolicy() string {
	return fmt.Sprintf("version = 1\n\nuse \"npm\" {\n  registry = \"https://%s\"\n}\n", registry)
}
