package proxy

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// roundTrip sends up and is what the client is to see of the answer. It has no error:
// every failure is an answer, so that each is recorded in the same way.
func (x *exchange) roundTrip(up *http.Request) *http.Response {
	resp, err := x.p.pools.of(x.d.Grant).RoundTrip(up)
	if err != nil {
		return x.failure(x.classify(err))
	}
	return x.response(resp)
}

// deliver writes resp to the client: head, body, trailers. It closes the body. An answer
// that breaks off is no whole one for the client either.
func (x *exchange) deliver(resp *http.Response) {
	defer resp.Body.Close()
	h := x.w.Header()
	maps.Copy(h, resp.Header)
	announced := len(resp.Trailer)
	if announced > 0 { // makes net/http send HTTP/1.1 in chunks, which trailers need
		h.Set("Trailer", strings.Join(slices.Sorted(maps.Keys(resp.Trailer)), ", "))
	}
	x.w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(x.w, resp.Body) // a failure of either side is in x.failed already
	x.deliverTrailer(resp.Trailer, announced)
	if x.failed.Load() != nil && x.status != 0 {
		panic(http.ErrAbortHandler) // the way net/http has to let the client see a cut
	}
}

// deliverTrailer writes trailers, of which HTTP/2 origins need not announce any.
func (x *exchange) deliverTrailer(trailer http.Header, announced int) {
	if len(trailer) == 0 {
		return
	}
	_ = http.NewResponseController(x.w).Flush() // else a short body gets a length, and no trailer
	prefix := ""
	if len(trailer) != announced {
		prefix = http.TrailerPrefix
	}
	for name, values := range trailer {
		x.w.Header()[prefix+name] = values
	}
}
