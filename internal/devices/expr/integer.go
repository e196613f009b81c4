package expr

import (
	"strconv"
	"strings"
)

// decimalPowers are the powers of ten of the units, binaryPowers those of two.
var (
	decimalPowers = map[string]int{"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
	binaryPowers  = map[string]int{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
)

// integerDigits is how many decimal digits Kubernetes reads into an integer, and binaryDigits how many
// if the unit is binary, which itself counts three for each ten powers.
const integerDigits, binaryDigits = 18, 14

// integerOf returns the quantity with a valid text as an integer, if Kubernetes takes it for one. It
// goes by the text: 1000m and 1.0 are none, nor is an amount of many digits.
func integerOf(text string) (int64, bool) {
	digits := strings.TrimLeft(text, "+-")
	unit := strings.TrimLeft(digits, "0123456789.")
	whole, part, _ := strings.Cut(digits[:len(digits)-len(unit)], ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	value, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil {
		return 0, false
	}
	if text[0] == '-' {
		value = -value
	}
	if power, ok := binaryPowers[unit]; ok {
		if part != "" || len(whole)+power/10*3 > binaryDigits {
			return 0, false
		}
		return value << power, true
	}
	power, ok := decimalPowers[unit]
	if !ok {
		if power, err = strconv.Atoi(unit[1:]); err != nil {
			return 0, false
		}
	}
	if len(whole)+len(part) > integerDigits {
		return 0, false
	}
	return timesTen(value, power-len(part))
}

// timesTen returns the value times a power of ten; false if that is no int64.
func timesTen(value int64, power int) (int64, bool) {
	if power < 0 {
		return 0, false
	}
	for ; power > 0 && value != 0; power-- {
		if value*10/10 != value {
			return 0, false
		}
		value *= 10
	}
	return value, true
}
