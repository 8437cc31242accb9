package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/toolpost/toolpost/internal/secret"
)

// collectorSettings are what the variables OTEL_EXPORTER_OTLP_* say about traces.
type collectorSettings struct {
	address *url.URL
	headers http.Header
	timeout time.Duration // of one request
	gzip    bool
	tls     *tls.Config // nil for the authorities of the system

	secrets *secret.Values // of the headers and the address
}

// collectorVariable returns a variable of the exporter. That of traces alone takes
// precedence over the one of all signals.
func collectorVariable(name string) (value, variable string) {
	for _, variable = range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value = strings.TrimSpace(os.Getenv(variable)); value != "" {
			return value, variable
		}
	}
	return "", variable
}

// readCollectorSettings reads the environment. As OpenTelemetry asks, a value that
// cannot be used is logged and ignored, unless the spans would go elsewhere or not
// be protected as the user wants.
func readCollectorSettings(log *slog.Logger) (*collectorSettings, error) {
	s := &collectorSettings{timeout: 10 * time.Second}
	var err error
	if s.address, err = collectorAddress(); err != nil {
		return nil, err
	}
	if s.tls, err = collectorTLS(); err != nil {
		return nil, err
	}
	s.headers = http.Header{"User-Agent": {"toolpost"}}
	// Those of traces replace those of all signals, which may have the key of another collector.
	if text, variable := collectorVariable("HEADERS"); !addHeaders(s.headers, text) {
		log.Warn("a header of the variable is malformed and is not sent; write NAME=VALUE,NAME=VALUE", "variable", variable)
	}
	s.secrets = s.findSecrets()
	if text, variable := collectorVariable("TIMEOUT"); text != "" {
		if ms, err := strconv.ParseUint(text, 10, 31); err == nil {
			s.timeout = time.Duration(ms) * time.Millisecond
		} else {
			log.Warn("the variable is not a number of milliseconds; 10 seconds are used", "variable", variable, "value", text)
		}
	}
	switch text, variable := collectorVariable("COMPRESSION"); text {
	case "gzip":
		s.gzip = true
	case "", "none":
	default:
		log.Warn("the variable is neither gzip nor none; traces are not compressed", "variable", variable, "value", text)
	}
	return s, nil
}

// findSecrets returns the values of the headers, and what is secret of the address.
func (s *collectorSettings) findSecrets() *secret.Values {
	found := secret.NewValues(secret.Hidden, secret.InURL(s.address.String())...)
	for name, values := range s.headers {
		for _, value := range values {
			if name != "User-Agent" {
				_, credential, _ := strings.Cut(value, " ") // after a scheme such as Bearer
				found.Add("", value, strings.TrimSpace(credential))
			}
		}
	}
	return found
}

// collectorAddress returns where spans are sent. The address of all signals is
// above that of traces.
func collectorAddress() (*url.URL, error) {
	text, variable := collectorVariable("ENDPOINT")
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the variable %s is not an address such as http://127.0.0.1:4318", variable)
	}
	if variable == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		return u.JoinPath("v1/traces"), nil
	}
	u.Path = cmp.Or(u.Path, "/")
	return u, nil
}

// collectorTLS returns the certificates of a connection, nil if none are configured.
func collectorTLS() (*tls.Config, error) {
	authorities, authoritiesVariable := collectorVariable("CERTIFICATE")
	certificate, variable := collectorVariable("CLIENT_CERTIFICATE")
	key, _ := collectorVariable("CLIENT_KEY")
	if authorities == "" && (certificate == "" || key == "") {
		return nil, nil
	}
	c := &tls.Config{}
	if authorities != "" {
		data, err := os.ReadFile(authorities)
		if c.RootCAs = x509.NewCertPool(); err == nil && !c.RootCAs.AppendCertsFromPEM(data) {
			err = errors.New("it has no certificate in PEM")
		}
		if err != nil {
			return nil, fmt.Errorf("read the file of the variable %s: %w", authoritiesVariable, err)
		}
	}
	if certificate != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("read the file of the variable %s and its key: %w", variable, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// addHeaders adds headers written as NAME=VALUE, with commas between and the values
// escaped as in an address. It reports whether all are well formed.
func addHeaders(h http.Header, text string) (ok bool) {
	ok = true
	for one := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		name, value, found := strings.Cut(one, "=")
		value, err := url.PathUnescape(value)
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			ok = false
			continue
		}
		h.Set(name, value)
	}
	return ok
}
