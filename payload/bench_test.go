package payload

import (
	"strings"
	"testing"
)

// BenchmarkJSON reads and writes 64 KiB of small objects.
func BenchmarkJSON(b *testing.B) {
	body := []byte(`{"a":[` + strings.Repeat(`{"id":12,"t":"a short text"},`, 2200) + `1]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (JSON{}).Inspect(body); err != nil {
			b.Fatal(err)
		}
	}
}
