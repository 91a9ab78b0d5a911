package vendorsim

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// marker is one cache_control of a request.
type marker struct {
	TTL string `json:"ttl"`
}

// canonical is a JSON value without insignificant space and without its cache
// markers, members in the order they were sent, and the markers found.
//
// A member named cache_control is a marker where it is an object of type
// "ephemeral", or null; anything else by that name, such as a property in a
// tool's schema, is content.
func canonical(raw []byte) (text []byte, markers []marker, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	c := canonicaliser{in: d}
	if err := c.value(); err != nil {
		return nil, nil, err
	}
	return c.out.Bytes(), c.markers, nil
}

type canonicaliser struct {
	in      *json.Decoder
	out     bytes.Buffer
	markers []marker
}

func (c *canonicaliser) value() error {
	token, err := c.in.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return c.object()
	case json.Delim('['):
		return c.array()
	}
	return c.scalar(token)
}

func (c *canonicaliser) object() error {
	c.out.WriteByte('{')
	for first := true; c.in.More(); {
		token, err := c.in.Token()
		if err != nil {
			return err
		}
		name, isName := token.(string)
		if !isName {
			return fmt.Errorf("a member's name is %v", token)
		}
		if name == "cache_control" {
			var raw json.RawMessage
			if err := c.in.Decode(&raw); err != nil {
				return err
			}
			m, found := readMarker(raw)
			if found {
				c.markers = append(c.markers, m)
			}
			if found || string(raw) == "null" {
				continue
			}
			c.comma(&first)
			if err := c.scalar(name); err != nil {
				return err
			}
			c.out.WriteByte(':')
			if err := json.Compact(&c.out, raw); err != nil {
				return err
			}
			continue
		}
		c.comma(&first)
		if err := c.scalar(name); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	_, err := c.in.Token()
	return err
}

func (c *canonicaliser) array() error {
	c.out.WriteByte('[')
	for first := true; c.in.More(); {
		c.comma(&first)
		if err := c.value(); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	_, err := c.in.Token()
	return err
}

func (c *canonicaliser) comma(first *bool) {
	if !*first {
		c.out.WriteByte(',')
	}
	*first = false
}

func (c *canonicaliser) scalar(token any) error {
	text, err := json.Marshal(token)
	if err != nil {
		return err
	}
	c.out.Write(text)
	return nil
}

// readMarker reads the value of a cache_control member.
func readMarker(raw []byte) (m marker, found bool) {
	var v struct {
		Type string `json:"type"`
		marker
	}
	if json.Unmarshal(raw, &v) != nil || v.Type != "ephemeral" {
		return marker{}, false
	}
	return v.marker, true
}
