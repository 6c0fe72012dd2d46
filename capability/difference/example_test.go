package difference_test

import (
	"fmt"

	"scupper.dev/scupper/capability/difference"
	"scupper.dev/scupper/capability/policyfile"
)

func Example() {
	const policy = `version = 1
grant "items" {
  reason     = "example"
  owner      = "docs"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = [%s]
    path    = "/items/{id}"
  }
}
`
	old, _ := policyfile.Parse("old.hcl", fmt.Appendf(nil, policy, `"GET"`), policyfile.Options{})
	changed, _ := policyfile.Parse("new.hcl", fmt.Appendf(nil, policy, `"GET", "DELETE"`), policyfile.Options{})
	report, err := difference.Between(old, changed)
	if err != nil {
		fmt.Println(err)
		return
	}
	example := report.Wider[0].Pieces[0].Example
	fmt.Println(report.Widened, example.Method, example.URL, example.There)
	// Output: true DELETE https://api.example.com/items/a method_not_granted
}
