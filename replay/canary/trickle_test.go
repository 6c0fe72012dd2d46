package canary

import (
	"fmt"
	"testing"
)

// TestTrickle sends a canary piece by piece and wants to know how much has gone out.
func TestTrickle(t *testing.T) {
	c := Of("token", "trickle")
	for _, tc := range []struct{ piece, messages, bits int }{{1, 5, 25}, {1, 26, 130}, {3, 4, 60}, {7, 2, 70}} {
		t.Run(fmt.Sprintf("%d messages of %d", tc.messages, tc.piece), func(t *testing.T) {
			var flows []Flow
			for i := range tc.messages {
				piece := c.Value[i*tc.piece : min((i+1)*tc.piece, Length)]
				flows = append(flows, Flow{Host: "api.example.com", Kind: "http", Parts: []Part{{Slot: "segment 1", Text: "items"}, {Slot: "segment 2", Text: piece}}})
			}
			if got := Trickle(c, flows); got != tc.bits {
				t.Errorf("got %d bits, want %d", got, tc.bits)
			}
		})
	}
	if got := Trickle(c, nil); got != 0 {
		t.Errorf("got %d bits of nothing", got)
	}
}
