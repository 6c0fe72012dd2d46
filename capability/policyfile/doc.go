// Package policyfile reads policies: files of grants in HCL become a compiled
// capability.Policy, or a list of all mistakes with their positions.
//
//	file, diags := policyfile.Load("policy.hcl")
//	diags.Write(os.Stderr, false, 80)
//	if diags.HasErrors() {
//		return diags.Err()
//	}
//	decision := file.Policy.Decide(request)
//
// Guarantees: a file with an error yields the policy that denies everything. All
// mistakes are found at once. Expressions are read, never evaluated: there are no
// templates, no variables, and no functions that look at files or the environment;
// the files that a policy names are listed in File.Files. Text of the file is escaped
// before it is shown.
//
// Non-guarantees: limits are carried, not enforced; whether a named host exists, and
// whether an expiry has passed when the policy is used later, is not judged here.
package policyfile
