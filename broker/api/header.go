package api

// header is a request header, versions 1 and 2.
type header struct {
	key, version  int16
	correlationID int32
	clientID      []byte // aliases the frame
}

// apiVersionsKey has its own rules: any version may be asked for, and its response header never has tags.
const apiVersionsKey = 18

// parseHeader reads the header of a frame and returns the body. Whether the header has tags depends
// on the API and version, so unknown ones cannot be read on.
func (t *apiTable) parseHeader(frame []byte) (header, []byte, error) {
	r := reader{b: frame}
	h := header{key: r.int16(), version: r.int16(), correlationID: r.int32()}
	if r.bad {
		return h, nil, errMalformed
	}
	e := t.endpoint(h.key)
	if e == nil || (!e.speaks(h.version) && h.key != apiVersionsKey) {
		return h, nil, errUnsupported
	}
	h.clientID = r.nullableString(false)
	r.tags(e.flexible(h.version), nil)
	if r.bad {
		return h, nil, errMalformed
	}
	return h, r.b, nil
}
