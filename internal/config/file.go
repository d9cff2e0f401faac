package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toxscreen/toxscreen/internal/spelling"
	"github.com/toxscreen/toxscreen/internal/usage"
)

// fileNames are the possible names of a configuration file. A folder may have only one of
// them.
var fileNames = []string{"toxscreen.yaml", "toxscreen.yml"}

// systemFolder is the folder of the configuration that all users share.
const systemFolder = "/etc/toxscreen"

// workingFolder is the folder of a project's configuration.
const workingFolder = "."

// folders returns the folders that may have a configuration file, the strongest first.
func folders() []string {
	all := []string{workingFolder}
	if user, err := os.UserConfigDir(); err == nil {
		all = append(all, filepath.Join(user, "toxscreen"))
	}
	return append(all, systemFolder)
}

// Files returns the paths of the possible configuration files, each by its first name, the
// strongest first.
func Files() []string {
	files := folders()
	for i, folder := range files {
		files[i] = filepath.Join(folder, fileNames[0])
	}
	return files
}

// fileIn returns the configuration file of a folder, empty if the folder has none.
func fileIn(folder string) (string, error) {
	found := ""
	for _, name := range fileNames {
		path := filepath.Join(folder, name)
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("failed to read configuration: %w", err)
		case found != "":
			return "", fmt.Errorf("failed to read configuration: %s and %s are both there: remove one of them", found, path)
		default:
			found = path
		}
	}
	return found, nil
}

// readFiles adds the values of all configuration files as sources.
func (s *Settings) readFiles() error {
	for _, folder := range slices.Backward(folders()) {
		path, err := fileIn(folder)
		if err != nil {
			return err
		}
		if path == "" {
			continue
		}
		values, err := readFile(path)
		if err != nil {
			return fmt.Errorf("failed to read configuration: %s: %w", path, err)
		}
		s.sources = append(s.sources, source{kind: fromFile, file: path, values: values})
	}
	return nil
}

// readFile returns the values of a configuration file by key. Relative paths in the file
// start from its folder.
func readFile(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	var tree map[string]any
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	if err := document.Decode(&tree); err != nil {
		return nil, err
	}
	found := map[string]any{}
	flatten(found, "", tree)
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		k, known := keyOf(name)
		if !known {
			return nil, fmt.Errorf("%sunknown key %q: the nearest known one is %s", lineOf(&document, name), name, nearestKey(name).name)
		}
		text, err := textOf(found[name])
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", lineOf(&document, name), name, err)
		}
		if k.foreign != "" && text != "" && filepath.Dir(path) == workingFolder {
			return nil, fmt.Errorf("%s: a file in the working folder must not %s", name, k.foreign)
		}
		values[name] = k.in(path, text)
	}
	return values, nil
}

// flatten adds the values of a tree to a flat map. Dots join the names of nested keys.
func flatten(to map[string]any, prefix string, tree map[string]any) {
	for name, value := range tree {
		if branch, ok := value.(map[string]any); ok && len(branch) > 0 {
			flatten(to, prefix+name+".", branch)
		} else {
			to[prefix+name] = value
		}
	}
}

// lineOf returns the line of a key in a file, as the beginning of an error. It is empty for
// a key from an alias.
func lineOf(node *yaml.Node, name string) string {
	if node.Kind == yaml.DocumentNode {
		return lineOf(node.Content[0], name)
	}
	if node.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		at, value := node.Content[i], node.Content[i+1]
		if at.Value == name {
			return fmt.Sprintf("line %d: ", at.Line)
		}
		if rest, inside := strings.CutPrefix(name, at.Value+"."); inside {
			if line := lineOf(value, rest); line != "" {
				return line
			}
		}
	}
	return ""
}

// nearestKey returns the key whose flag other programs call unknown, or else the key with
// the most similar name.
func nearestKey(unknown string) key {
	for _, flag := range usage.Meant(unknown) {
		for _, k := range keys {
			if k.flag() == flag {
				return k
			}
		}
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	known, _ := spelling.Nearest(unknown, names)
	nearest, _ := keyOf(known)
	return nearest
}

// textOf returns a value from a file in the form of the environment.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", errors.New("the key has no value")
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int, bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			var err error
			if parts[i], err = textOf(part); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("the value must be a text, a number, true, false, or a list of these")
}

// ofKubernetes matches the variables that Kubernetes and Docker set for a service or a link
// whose name begins with toxscreen, like TOXSCREEN_PORT_8080_TCP_ADDR. They must never be
// the name of a key.
var ofKubernetes = regexp.MustCompile(`^TOXSCREEN_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// portOfKubernetes is a variable with two meanings. Kubernetes sets it to an address like
// tcp://10.0.0.1:8080, which is ignored. A user sets it to the port to listen on, and gets an
// error with the right name.
const portOfKubernetes = "TOXSCREEN_PORT"

// readEnv returns the values from the environment by key.
func readEnv() (map[string]string, error) {
	byEnv := map[string]string{}
	for _, k := range keys {
		byEnv[k.env()] = k.name
	}
	values := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		if k, ok := byEnv[name]; ok {
			values[k] = value
		} else if !ofKubernetes.MatchString(name) || name == portOfKubernetes && !strings.Contains(value, "://") {
			near := nearestKey(strings.ToLower(strings.TrimPrefix(name, EnvPrefix)))
			return nil, fmt.Errorf("failed to read configuration: unknown environment variable %s: the nearest known one is %s", name, near.env())
		}
	}
	return values, nil
}
