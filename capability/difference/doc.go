// Package difference says what one policy permits and another does not, in capabilities
// and not in lines, and proves it with requests that both policies decide.
//
//	old, _ := policyfile.Load("old.hcl")
//	changed, _ := policyfile.Load("new.hcl")
//	report, err := difference.Between(old, changed)
//	if report.Widened {
//		report.Text(os.Stdout, false)
//	}
//
// An allow block is a product of sets: hosts, methods, paths, values of each parameter
// and header, bodies, credentials, time, networks. What it newly permits is what is left
// when all blocks of the other policy are taken away from it. Paths and values are
// compared as languages, so that order, names and spelling do not matter.
//
// Guarantees: everything that only the new policy allows lies in a set of the report.
// Where the comparison is not exact (a variable that occurs twice in a path, schemas of
// bodies, machines that grow too large) the set is reported and marked as one that may
// be permitted by both. An Example is decided by both policies with Policy.Decide, and
// by the inspector, the header and the address check that stand behind it.
//
// Non-guarantees: where two allow blocks of one policy permit a request under different
// conditions, the first counts; sets are compared as if each did, and a change among
// such blocks is reported as one that may be wider. A header that is left out before
// sending is no part of a request. Two schemas are equal when their texts are. That a
// name resolves or a port connects is not reported for itself.
package difference
