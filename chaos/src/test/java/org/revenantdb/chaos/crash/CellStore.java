package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A store of a few values in one file, which is replaced as a whole. Few places change files, so
 * that a death at each of them takes few processes.
 */
record CellStore(Path dir, Map<String, String> content, boolean deletesFirst) {

  static CellStore open(Path dir, boolean deletesFirst) throws IOException {
    CellStore store = new CellStore(dir, new TreeMap<>(), deletesFirst);
    store.recover();
    return store;
  }

  private void recover() throws IOException {
    if (Files.exists(next())) {
      Files.delete(next()); // left by a process that died while it wrote
    }
    if (!Files.exists(file())) {
      create();
    }
    Files.readAllLines(file())
        .forEach(line -> {
          String[] parts = line.split("=", 2);
          content.put(parts[0], parts[1]);
        });
  }

  private void create() throws IOException {
    Files.createFile(file());
  }

  private Path file() {
    return dir.resolve("cells");
  }

  private Path next() {
    return dir.resolve("next");
  }

  void put(String key, String value) throws IOException {
    content.put(key, value);
    write();
    if (deletesFirst) {
      Files.delete(file());
    }
    Files.move(next(), file(), StandardCopyOption.ATOMIC_MOVE);
  }

  private void write() throws IOException {
    String all =
        content.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue() + "\n")
            .collect(Collectors.joining());
    Files.writeString(next(), all, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  @Nullable String get(String key) {
    return content.get(key);
  }
}
