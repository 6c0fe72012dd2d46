package policyfile

import "time"

var testTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
