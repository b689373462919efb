//go:build interop

package wire

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// masked are the fields whose values are ids, times, ports, or measures of the disk. Zero values and -1 are shown: whether there
// is one is part of the answer.
var masked = map[string]bool{
	"ClusterID": true, "TopicID": true, "ProducerID": true, "SessionID": true, "DirectoryID": true, "ReplicaDirectoryID": true,
	"Port": true, "LogDir": true, "Dir": true,
	"LogAppendTime": true, "LastTimestamp": true, "LastFetchTimestamp": true, "LastCaughtUpTimestamp": true,
	"TotalBytes": true, "UsableBytes": true, "FinalizedFeaturesEpoch": true,
}

// lines shows a decoded answer, one leaf a line.
func lines(v any) []string {
	var out []string
	walk(reflect.ValueOf(v), "", &out)
	return out
}

func walk(v reflect.Value, path string, out *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			*out = append(*out, path+" = null")
			return
		}
		walk(v.Elem(), path, out)
	case reflect.Struct:
		if _, ok := v.Interface().(kmsg.Tags); ok {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "Version" && path == "" || !f.IsExported() {
				continue
			}
			p := path + "." + f.Name
			if path == "" {
				p = f.Name
			}
			if masked[f.Name] {
				*out = append(*out, p+" = "+shape(v.Field(i)))
				continue
			}
			walk(v.Field(i), p, out)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.IsNil() {
				*out = append(*out, path+" = null")
			} else {
				*out = append(*out, fmt.Sprintf("%s = %d bytes, crc %08x", path, v.Len(), crc32.ChecksumIEEE(v.Bytes())))
			}
			return
		}
		if v.Len() == 0 {
			*out = append(*out, path+" = []")
		}
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%s]", path, name(v.Index(i), i)), out)
		}
	default:
		*out = append(*out, fmt.Sprintf("%s = %v", path, v.Interface()))
	}
}

// name calls an element of a list by its name or key, which reads better than its position; the position is still compared, since
// lines are compared in order.
func name(v reflect.Value, i int) string {
	if v.Kind() == reflect.Struct {
		for _, f := range []string{"Topic", "Name", "ResourceName", "ApiKey", "Partition", "NodeID", "Feature"} {
			x := v.FieldByName(f)
			if !x.IsValid() {
				continue
			}
			for x.Kind() == reflect.Pointer && !x.IsNil() {
				x = x.Elem()
			}
			if s := fmt.Sprint(x.Interface()); s != "" && !strings.HasPrefix(s, "<") {
				return s
			}
		}
	}
	return fmt.Sprint(i)
}

func shape(v reflect.Value) string {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "null"
		}
		v = v.Elem()
	}
	if v.IsZero() {
		return "zero"
	}
	if v.CanInt() && v.Int() < 0 {
		return fmt.Sprint(v.Int())
	}
	return "MASKED"
}
