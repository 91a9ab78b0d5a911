package wire

// read turns the members that were found into facts and checks their types.
func (r *Request) read() error {
	f := &r.facts
	f.API = r.API
	if err := r.text(fieldModel, &f.Target); err != nil {
		return err
	}
	// What names a session is a hint: of a wrong type it names none, and fails nothing.
	f.CacheKey = r.loose(fieldCacheKey)
	f.BodyID, f.BodyCamelID = r.loose(fieldSessionID), r.loose(fieldSessionIDCamel)
	if err := r.readStream(); err != nil {
		return err
	}
	if err := r.readRouting(); err != nil {
		return err
	}
	switch {
	case f.Target != "" || len(f.Models) > 0:
	case r.at[fieldModel] == 0:
		return refused(`"model" is missing; name the model or policy to use`)
	default:
		return refused(`"model" is empty; name the model or policy to use`)
	}
	f.Has, f.Field = r.has, r.field
	return r.readCaching()
}

// text reads a member that must be a string if it is there.
func (r *Request) text(f field, to *string) error {
	v := r.value(f)
	if !v.found() {
		return nil
	}
	text, ok := textOf(r.Body, v)
	if !ok {
		return refused("%q must be a string", fieldNames[f])
	}
	*to = string(text)
	return nil
}

// loose is a member's text; empty where it is missing or none. For members that
// are the vendor's to judge, and for those that only help affinity.
func (r *Request) loose(f field) string {
	text, _ := textOf(r.Body, r.value(f))
	return string(text)
}

func (r *Request) readStream() error {
	if v := r.value(fieldStream); v.found() {
		switch r.Body[v.from] {
		case 't':
			r.Stream = true
		case 'f':
		default:
			return refused(`"stream" must be true or false`)
		}
	}
	r.facts.Stream = r.Stream
	v := r.value(fieldStreamOptions)
	if !v.found() {
		return nil
	}
	if r.Body[v.from] != '{' {
		return refused(`"stream_options" must be an object`)
	}
	r.options.last = v.from + 1
	seen := false
	for w := walk(r.Body, v.from); w.next(); {
		r.options.last, r.options.some = w.to, true
		if !w.is("include_usage") {
			continue
		}
		if seen {
			return refused(`"include_usage" stands in stream_options twice; send it once`)
		}
		seen = true
		switch r.Body[w.from] {
		case 't', 'f':
			r.UsageAsked, r.UsageWanted = true, r.Body[w.from] == 't'
		case 'n':
			r.options.null = w.span()
		default:
			return refused(`"stream_options.include_usage" must be true or false`)
		}
	}
	return nil
}

// readCaching reads what the request says of caches and of its origin.
func (r *Request) readCaching() error {
	f := &r.facts
	for _, m := range [...]field{fieldCaching, fieldCacheTTL} {
		v := r.value(m)
		if !v.found() {
			continue
		}
		read := readAuto
		if m == fieldCacheTTL {
			read = readTTL
		}
		if err := read(r, v, fieldNames[m]); err != nil {
			return err
		}
	}
	f.Service, f.Speed, f.Region = r.loose(fieldServiceTier), r.loose(fieldSpeed), r.loose(fieldRegion)
	f.Retention = lifetime(r.loose(fieldRetention))
	if v := r.value(fieldCacheOptions); v.found() && r.Body[v.from] == '{' {
		for w := walk(r.Body, v.from); w.next(); {
			if !w.is("ttl") {
				continue
			}
			if text, ok := w.short(w.span()); ok {
				f.Retention = max(f.Retention, lifetime(string(text)))
			}
		}
	}
	if v := r.value(fieldMetadata); v.found() && r.Body[v.from] == '{' {
		for w := walk(r.Body, v.from); w.next(); {
			if !w.is("user_id") {
				continue
			}
			if text, ok := textOf(r.Body, w.span()); ok {
				f.MetadataUser = string(text)
			}
		}
	}
	f.PreviousResponse = r.loose(fieldPreviousResponse)
	r.readStateful()
	if v := r.value(fieldStore); v.found() {
		f.Unstored = r.Body[v.from] == 'f'
	}
	if f.Markers > 0 && f.Markers <= maxMarkersHashed {
		f.MarkedPrefix = r.markedPrefix
	}
	if r.opener.last.found() {
		f.Last = r.said
	}
	if r.hasOpening() {
		f.Opening, f.Words, f.Prefix = r.opening, r.words, r.prefix
	}
	return nil
}
