package model

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// tableFile lays out a safetensors file of two known features and three
// buckets of two dimensions.
func tableFile(change func(head string) string) []byte {
	head := change(`{"__metadata__":{"name":"n"},"hashes":{"dtype":"U64","shape":[2],"data_offsets":[0,16]},` +
		`"scales":{"dtype":"F32","shape":[5],"data_offsets":[16,36]},"rows":{"dtype":"I8","shape":[5,2],"data_offsets":[36,46]}}`)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	file = append(file, head...)
	known := []uint64{hash(kindWord, []rune("lens")...), hash(kindChar, '光')}
	slices.Sort(known)
	for _, h := range known {
		file = binary.LittleEndian.AppendUint64(file, h)
	}
	for range 5 {
		file = binary.LittleEndian.AppendUint32(file, 0x3f000000) // 0.5
	}
	return append(file, 10, 0, 0, 10, 1, 0, 1, 0, 1, 0)
}

func same(head string) string { return head }

func TestTableAddsScaledRows(t *testing.T) {
	table, err := openTable(tableFile(same))
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, 2)
	table.add(v, kindWord, []rune("lens"))
	table.add(v, kindChar, []rune("光"))
	if !slices.Equal(v, []float32{5, 5}) {
		t.Errorf("two known features make %v", v)
	}
	// An unknown word of n groups adds n rows at a weight of 1/sqrt(n): <abc>,
	// three of 3 and two of 4 characters, each (0.5, 0).
	v = make([]float32, 2)
	table.add(v, kindWord, []rune("abc"))
	if want := float32(1.2247449); v[0] < want-1e-6 || v[0] > want+1e-6 || v[1] != 0 { // 6 * 0.5 / sqrt(6)
		t.Errorf("an unknown word makes %v, want %g", v, want)
	}
	v = make([]float32, 2)
	table.add(v, kindPair, []rune("東京"))
	if !slices.Equal(v, []float32{.5, 0}) {
		t.Errorf("an unknown pair makes %v", v)
	}
}

func TestTableRefusesDamage(t *testing.T) {
	replace := func(old, by string) func(string) string {
		return func(head string) string { return strings.Replace(head, old, by, 1) }
	}
	for name, file := range map[string][]byte{
		"empty":             {},
		"cut header":        tableFile(same)[:40],
		"cut values":        tableFile(same)[:len(tableFile(same))-1],
		"no JSON":           tableFile(func(string) string { return "{" }),
		"no name":           tableFile(replace(`"name":"n"`, `"name":""`)),
		"wrong type":        tableFile(replace("I8", "U8")),
		"no tensor":         tableFile(replace(`"rows"`, `"other"`)),
		"other row count":   tableFile(replace("[5,2]", "[4,2]")),
		"no buckets":        tableFile(replace("[5,2]", "[2,2]")),
		"offsets reversed":  tableFile(replace("[36,46]", "[46,36]")),
		"offset far away":   tableFile(replace("[36,46]", "[99999999999,99999999999]")),
		"size of dimension": tableFile(replace("[5,2]", "[5,3]")),
	} {
		if _, err := openTable(file); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(tableFile(same))
	f.Fuzz(func(t *testing.T, file []byte) {
		table, err := openTable(file)
		if err != nil {
			return
		}
		v := make([]float32, table.dim)
		for _, word := range []string{"lens", "a", "an unknown word"} {
			table.add(v, kindWord, []rune(word)[:min(len([]rune(word)), longestWord)])
		}
		table.add(v, kindPair, []rune("東京"))
	})
}
