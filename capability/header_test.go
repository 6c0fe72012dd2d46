package capability

import "testing"

// TestAcceptEncoding: EXF-08, codings and weights, and no room for words of one's own.
func TestAcceptEncoding(t *testing.T) {
	for value, want := range map[string]bool{
		"gzip, deflate, br": true, "gzip;q=1.0, identity; q=0.5, *;q=0": true, "": true, "br;q=0.123": true, "zstd ; q=1": true,
		"gzip;q=secret": false, "gzip;q=0.1234": false, "gzip;secret=1": false, "gzip;q=0.5;x=secret": false, "secret": false,
		"gzip;q=1\"": false, "gzip;q=": false, "gzip;": false, "gzip;q=9": false,
	} {
		if got := safeHeader("Accept-Encoding", value); got != want {
			t.Errorf("%q: got %t, want %t", value, got, want)
		}
	}
}
