package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// maxDepth is how deep a request may nest; the deepest legal one has three levels.
const maxDepth = 8

// errSyntax marks input that is no JSON object at all.
var errSyntax = newError(codeBadRequest, "this is not one JSON object")

// decodeStrict reads exactly one JSON object into v, a pointer to a struct.
// Unlike encoding/json it knows no field by another case of its name and
// refuses unknown and repeated ones, so that a request means one thing only.
// A syntax error is errSyntax, everything else an Error about one field.
func decodeStrict(data []byte, v any) error {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); !json.Valid(data) || trimmed[0] != '{' {
		return errSyntax
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := checkValue(d, reflect.TypeOf(v).Elem(), "", 0); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return wrongType(wrong)
		}
		return newError(codeBadRequest, "the request cannot be read: %s", jsonReason(err))
	}
	return nil
}

// wrongType says in JSON's words what stood where something else belongs. The
// path of the decoder also names embedded Go types, which no client knows: they
// begin with a capital, names on the wire do not.
func wrongType(e *json.UnmarshalTypeError) *Error {
	path := slices.DeleteFunc(strings.Split(e.Field, "."), func(name string) bool { return name != strings.ToLower(name) })
	given, _, _ := strings.Cut(e.Value, " ")
	return newError(codeBadRequest, "the field %.60q must be %s, not %s", strings.Join(path, "."), jsonKind(e.Type), jsonValue(given))
}

// jsonKind is a Go type as JSON calls it.
func jsonKind(t reflect.Type) string {
	switch t = deref(t); t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number that is not too large"
}

// jsonValue is what was given, in a sentence.
func jsonValue(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + kind
	}
	return "a " + kind
}

// checkValue walks one value beside the type it goes into; t is nil where
// anything goes or where the type reads itself.
func checkValue(d *json.Decoder, t reflect.Type, name string, depth int) error {
	if depth > maxDepth {
		return newError(codeBadRequest, "the field %.60q is nested too deeply", name)
	}
	token, err := d.Token()
	if err != nil {
		return errSyntax
	}
	switch token {
	case json.Delim('{'):
		return checkObject(d, t, name, depth)
	case json.Delim('['):
		elem := reflect.Type(nil)
		if t = deref(t); t != nil && t.Kind() == reflect.Slice {
			elem = t.Elem()
		}
		for d.More() {
			if err := checkValue(d, elem, name, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func checkObject(d *json.Decoder, t reflect.Type, name string, depth int) error {
	known := fieldsOf(t)
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return errSyntax
		}
		key, _ := token.(string)
		path := strings.TrimPrefix(name+"."+key, ".")
		field, ok := known[key]
		switch {
		case seen[key]:
			return newError(codeBadRequest, "the field %.60q stands there twice", path)
		case known != nil && !ok:
			return newError(codeBadRequest, "the field %.60q is unknown", path)
		}
		seen[key] = true
		if err := checkValue(d, field, path, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// fieldsOf maps JSON names to types; nil where t is no struct or reads itself.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	t = deref(t)
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// jsonReason is what is wrong with a message, without the decoder's own prefix.
func jsonReason(err error) string {
	reason := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "json: ")
	return strings.ToValidUTF8(reason[:min(len(reason), 200)], "")
}
