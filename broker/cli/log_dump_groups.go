package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// jsonText is a value that is printed as the JSON it is.
type jsonText string

// MarshalJSON implements json.Marshaler.
func (s jsonText) MarshalJSON() ([]byte, error) { return []byte(s), nil }

// keepsGroups reports whether a file belongs to a partition of __consumer_offsets.
func keepsGroups(name string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Dir(name)), "__consumer_offsets-")
}

// groupFields are key and value of a record of __consumer_offsets, decoded; as they are, where this version does not know
// their type.
func groupFields(key, value []byte) ([]field, error) {
	raw := []field{bytesField("key", key), bytesField("value", value)}
	k, err := group.ParseKey(key)
	if errors.Is(err, coordinator.ErrUnknownType) {
		return raw, nil
	}
	if err != nil {
		return raw, err
	}
	fields := []field{{"key", groupKey(k)}, {"value", nil}}
	if value == nil {
		return fields, nil
	}
	v, err := group.ParseValue(k.Type, value)
	if err != nil {
		return raw, err
	}
	fields[1].value = jsonText(appendJSON(nil, reflect.ValueOf(v)))
	return fields, nil
}

// groupKey shows the fields that the key of a type has.
func groupKey(k group.Key) jsonText {
	fields := []field{{"type", int16(k.Type)}, {"group", k.Group}}
	switch k.Type {
	case group.LegacyOffsetCommitType, group.OffsetCommitType:
		fields = append(fields, field{"topic", k.Topic}, field{"partition", k.Partition})
	case group.ConsumerGroupMemberMetadataType, group.TargetAssignmentMemberType, group.CurrentMemberAssignmentType:
		fields = append(fields, field{"member", k.Member})
	case group.RegularExpressionType:
		fields = append(fields, field{"regex", k.Regex})
	}
	raw, err := jsonObject(fields)
	if err != nil {
		panic(fmt.Sprintf("BUG: cli: numbers and strings make no JSON: %v", err))
	}
	return jsonText(raw)
}

// appendJSON appends a record's value: fields in their order, ids as text, bytes in base64.
func appendJSON(out []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(out, "null"...)
		}
		return appendJSON(out, v.Elem())
	case reflect.Struct:
		out = append(out, '{')
		for i := range v.NumField() {
			if i > 0 {
				out = append(out, ',')
			}
			name := []rune(v.Type().Field(i).Name)
			name[0] = unicode.ToLower(name[0])
			out = append(append(append(out, '"'), string(name)...), `":`...)
			out = appendJSON(out, v.Field(i))
		}
		return append(out, '}')
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break // as base64
		}
		out = append(out, '[')
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, v.Index(i))
		}
		return append(out, ']')
	case reflect.Array:
		return appendJSON(out, reflect.ValueOf(fmt.Sprint(v.Interface()))) // an id
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic(fmt.Sprintf("BUG: cli: a %v makes no JSON: %v", v.Type(), err))
	}
	return append(out, raw...)
}
