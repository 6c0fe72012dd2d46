package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// parcelsVar names a file of parcels, and makes this test binary their sender.
const parcelsVar = "SCUPPER_E2E_PARCELS"

// parcel is one request, field by field as it is written, and those that go before it on
// its connection.
type parcel struct {
	Name    string
	H2      bool
	Host    string
	Target  string
	Type    string // of the body
	Body    string
	Fields  [][2]string
	Trailer [][2]string
	Before  []string // targets that are asked for without a credential; of a redirect the last leads here
}

// came is what the sender prints of one parcel.
type came struct {
	Name   string
	Before []int // statuses
	Status int
	Error  string
}

// sendMain sends every parcel on a connection of its own.
func sendMain() int {
	text, err := os.ReadFile(os.Getenv(parcelsVar))
	var parcels []parcel
	if err == nil {
		err = json.Unmarshal(text, &parcels)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	out := json.NewEncoder(os.Stdout)
	for _, p := range parcels {
		c := came{Name: p.Name}
		if err := p.send(&c); err != nil {
			c.Error = err.Error()
		}
		out.Encode(c)
	}
	return 0
}

// talk exchanges one request for the status of its answer.
type talk func(p parcel) (int, error)

func (p parcel) send(c *came) error {
	protocol := map[bool]string{false: "http/1.1", true: "h2"}[p.H2]
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: trialLimit}, Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}}
	conn, err := d.Dial("tcp", p.Host+":443")
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	say := overHTTP1(conn)
	if p.H2 {
		if say, err = overHTTP2(conn); err != nil {
			return err
		}
	}
	for _, target := range p.Before {
		status, err := say(parcel{Host: p.Host, Target: target, Type: "application/json", Body: "{}"})
		if c.Before = append(c.Before, status); err != nil {
			return err
		}
	}
	c.Status, err = say(p)
	return err
}

func overHTTP1(conn net.Conn) talk {
	answers := bufio.NewReader(conn)
	return func(p parcel) (int, error) {
		var b bytes.Buffer
		fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n", p.Target, p.Host, p.Type)
		for _, f := range p.Fields {
			fmt.Fprintf(&b, "%s: %s\r\n", f[0], f[1])
		}
		if len(p.Trailer) == 0 {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(p.Body), p.Body)
		} else {
			fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n", len(p.Body), p.Body)
			for _, f := range p.Trailer {
				fmt.Fprintf(&b, "%s: %s\r\n", f[0], f[1])
			}
			b.WriteString("\r\n")
		}
		if _, err := conn.Write(b.Bytes()); err != nil {
			return 0, err
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
}

func overHTTP2(conn net.Conn) (talk, error) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	framer, stream := http2.NewFramer(conn, conn), uint32(1)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoded := func(fields ...[2]string) []byte {
		block.Reset()
		for _, f := range fields {
			encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		return bytes.Clone(block.Bytes())
	}
	if err := framer.WriteSettings(); err != nil {
		return nil, err
	}
	return func(p parcel) (int, error) {
		head := append([][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", p.Host}, {":path", p.Target}, {"content-type", p.Type}}, p.Fields...)
		id := stream
		stream += 2
		err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: encoded(head...), EndHeaders: true})
		err = errors.Join(err, framer.WriteData(id, len(p.Trailer) == 0, []byte(p.Body)))
		if len(p.Trailer) > 0 {
			err = errors.Join(err, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: encoded(p.Trailer...), EndHeaders: true, EndStream: true}))
		}
		if err != nil {
			return 0, err
		}
		return awaitStatus(framer, id)
	}, nil
}

// awaitStatus reads up to the end of a stream.
func awaitStatus(framer *http2.Framer, id uint32) (status int, err error) {
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return status, err
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if text := f.PseudoValue("status"); f.StreamID == id && text != "" {
				status, _ = strconv.Atoi(text)
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == id {
				return status, nil
			}
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if err := framer.WriteSettingsAck(); err != nil {
					return status, err
				}
			}
		}
		if h := frame.Header(); h.StreamID == id && (h.Type == http2.FrameData || h.Type == http2.FrameHeaders) && h.Flags.Has(http2.FlagDataEndStream) {
			return status, nil
		}
	}
}
