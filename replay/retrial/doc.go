// Package retrial judges the requests of a log again, under another policy.
//
//	trial := retrial.New(retrial.Config{Dir: dir, Policy: file})
//	if err := trial.Run(run); err != nil {
//		return err // the log cannot be read
//	}
//	report := trial.Report()
//	report.Text(os.Stdout)
//
// A record has no header, no byte of a body, and of a query only the values that the
// policy of the run lists. What the missing parts can have been is bounded by what is on
// record: a request that was allowed kept to the allow block that allowed it, the text of
// which is kept beside the log; a masked value has a length. An allow block of the new
// policy then takes the request whatever the missing parts were, or it does not whatever
// they were, or it depends. The request is newly allowed or newly denied only where it
// does not depend; else it is undecidable, and the report says what is missing.
//
// Guarantees: what is reported as allowed or denied is what the new policy would have
// decided about the request that was made. Limits are applied again in the order of the
// log, by the times on record.
//
// Non-guarantees: the log is not verified here; that comes before. A client that had met
// the new policy would have asked for other things afterwards. A request that was refused
// has moved no bytes, so newly allowed ones count as requests and not as bytes. Who holds
// which placeholder is taken from the run: a credential that only the new policy has
// stands in no request of the log.
package retrial
