package proxy

import "slices"

// hiding takes secrets out of messages that follow each other.
type hiding struct {
	pass func(piece []byte) []byte
	end  func() []byte
}

// hiding is nil where there is no secret.
func (x *exchange) hiding() *hiding {
	r := x.redactor()
	if r == nil {
		return nil
	}
	pass, end := r.Messages()
	return &hiding{pass, end}
}

// last is what is left of a message that ends with piece.
func (h *hiding) last(piece []byte) []byte {
	return append(slices.Clip(h.pass(piece)), h.end()...)
}

// passHidden writes a message in frames of our own: holding a piece back moves their
// ends. Without extensions that is an intermediary's to do (RFC 6455 section 5.4).
func (r *frameRelay) passHidden(f wsFrame, buf []byte) error {
	if f.op != opContinuation {
		r.op = f.op
	}
	for left := f.length; left > 0 || f.fin; {
		piece, err := r.piece(buf[:min(int64(len(buf)), left)])
		if err != nil {
			return err
		}
		if left -= int64(len(piece)); left == 0 && f.fin {
			if r.text && len(r.rest) > 0 {
				return errText
			}
			return r.frame(r.messages.last(piece), true)
		}
		if out := r.messages.pass(piece); len(out) > 0 {
			if err := r.frame(out, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece reads some of the payload of a frame from the upstream; of an empty one nothing.
func (r *frameRelay) piece(buf []byte) ([]byte, error) {
	if len(buf) == 0 {
		return nil, nil
	}
	n, err := r.from.Read(buf)
	if err != nil {
		return nil, err
	}
	if r.text && !r.whole(buf[:n]) {
		return nil, errText
	}
	return buf[:n], nil
}

// frame writes the next frame of a message.
func (r *frameRelay) frame(payload []byte, fin bool) error {
	head, _ := r.encode(wsFrame{fin: fin, op: r.op, length: int64(len(payload))})
	r.op = opContinuation
	return r.write(append(head, payload...))
}

// hideControl takes secrets out of a control frame; the code of a close frame stays.
func (r *frameRelay) hideControl(op byte, payload []byte) []byte {
	if r.controls == nil {
		return payload
	}
	code := 0
	if op == opClose {
		code = min(2, len(payload))
	}
	return slices.Concat(payload[:code], r.controls.last(payload[code:]))
}
