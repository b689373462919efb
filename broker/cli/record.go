package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordJSON is a record as 'weir consume -o json' prints and 'weir produce --input json' reads it. Bytes that are not UTF-8 are
// in the base64 field instead of the plain one.
type recordJSON struct {
	Topic       string       `json:"topic,omitempty"`
	Partition   *int32       `json:"partition,omitempty"`
	Offset      *int64       `json:"offset,omitempty"`
	Timestamp   *time.Time   `json:"timestamp,omitempty"`
	Key         *string      `json:"key"`
	KeyBase64   string       `json:"key_base64,omitempty"`
	Value       *string      `json:"value"`
	ValueBase64 string       `json:"value_base64,omitempty"`
	Headers     []headerJSON `json:"headers,omitempty"`
}

type headerJSON struct {
	Key         string  `json:"key"`
	Value       *string `json:"value"`
	ValueBase64 string  `json:"value_base64,omitempty"`
}

func toJSON(r *kgo.Record) recordJSON {
	at := r.Timestamp.UTC()
	out := recordJSON{Topic: r.Topic, Partition: &r.Partition, Offset: &r.Offset, Timestamp: &at}
	out.Key, out.KeyBase64 = toText(r.Key)
	out.Value, out.ValueBase64 = toText(r.Value)
	for _, h := range r.Headers {
		header := headerJSON{Key: h.Key}
		header.Value, header.ValueBase64 = toText(h.Value)
		out.Headers = append(out.Headers, header)
	}
	return out
}

func toText(b []byte) (plain *string, encoded string) {
	switch {
	case b == nil:
		return nil, ""
	case utf8.Valid(b):
		text := string(b)
		return &text, ""
	}
	return nil, base64.StdEncoding.EncodeToString(b)
}

func fromText(plain *string, encoded string) ([]byte, error) {
	switch {
	case plain != nil && encoded != "":
		return nil, errors.New("has both the plain and the base64 form")
	case plain != nil:
		return []byte(*plain), nil
	case encoded != "":
		return base64.StdEncoding.DecodeString(encoded)
	}
	return nil, nil
}

// fromJSON reads a record to produce. Topic and offset are those of where it came from and are not used.
func fromJSON(line []byte) (*kgo.Record, error) {
	var in recordJSON
	if err := json.Unmarshal(line, &in); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, fmt.Errorf("field %s is a %s, which does not fit", wrong.Field, wrong.Value)
		}
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	r := &kgo.Record{Partition: -1}
	if in.Partition != nil {
		r.Partition = *in.Partition
	}
	if in.Timestamp != nil {
		r.Timestamp = *in.Timestamp
	}
	var err error
	if r.Key, err = fromText(in.Key, in.KeyBase64); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if r.Value, err = fromText(in.Value, in.ValueBase64); err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	for _, h := range in.Headers {
		value, err := fromText(h.Value, h.ValueBase64)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", h.Key, err)
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: value})
	}
	return r, nil
}
