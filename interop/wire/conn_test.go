//go:build interop

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const clientID = "wire"

// conn is a connection that sends one request at a time.
type conn struct {
	c  net.Conn
	id int32
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{c: c}, nil
}

func (c *conn) close() { _ = c.c.Close() }

// frame encodes header and body; the version in the header is the request's.
func (c *conn) frame(r kmsg.Request) []byte {
	c.id++
	b := make([]byte, 4)
	b = binary.BigEndian.AppendUint16(b, uint16(r.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(r.GetVersion()))
	b = binary.BigEndian.AppendUint32(b, uint32(c.id))
	b = binary.BigEndian.AppendUint16(b, uint16(len(clientID)))
	b = append(b, clientID...)
	if r.IsFlexible() {
		b = append(b, 0)
	}
	b = r.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

var errClosed = errors.New("connection closed")

// roundTrip sends a frame and returns the answer's body behind the correlation id, or errClosed.
func (c *conn) roundTrip(frame []byte) ([]byte, error) {
	if err := c.c.SetDeadline(time.Now().Add(4 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := c.c.Write(frame); err != nil {
		return nil, errClosed
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(c.c, head); err != nil {
		var ne net.Error
		if errors.As(err, &ne) && ne.Timeout() {
			return nil, errors.New("no answer")
		}
		return nil, errClosed
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(c.c, body); err != nil {
		return nil, fmt.Errorf("short answer: %w", err)
	}
	if got := binary.BigEndian.Uint32(head[4:]); got != uint32(c.id) {
		return nil, fmt.Errorf("correlation id %d, want %d", got, c.id)
	}
	return body, nil
}

// ask sends the request and decodes the answer; what remains after decoding is an error.
func (c *conn) ask(r kmsg.Request) (kmsg.Response, error) {
	body, err := c.roundTrip(c.frame(r))
	if err != nil {
		return nil, err
	}
	resp := r.ResponseKind()
	resp.SetVersion(r.GetVersion())
	if r.Key() != 18 && r.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return nil, errors.New("flexible answer without an empty tag section in its header")
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("undecodable: %w", err)
	}
	if again := resp.AppendTo(nil); len(again) != len(body) {
		return resp, fmt.Errorf("%d bytes of answer, %d when encoded again", len(body), len(again))
	}
	return resp, nil
}
