package org.revenantdb.suite.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Real data in every JDK: the files of its own module image, {@code jrt:/}.
 *
 * <p>Parent and child list them separately and get the same list, because they run on the same
 * Java.
 */
final class JdkFiles {

  /**
   * A file to import.
   *
   * @param key the file's path, as bytes of UTF-8
   * @param path the place of its content
   */
  @SuppressWarnings("ArrayRecordComponent") // A key is bytes; these records are never compared.
  record Item(byte[] key, Path path) {

    byte[] content() {
      try {
        return Files.readAllBytes(path);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + path, e);
      }
    }

    String name() {
      return new String(key, StandardCharsets.UTF_8);
    }
  }

  private static final Path TOP =
      FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");

  private final List<Item> small = new ArrayList<>();
  private final List<Item> big = new ArrayList<>();
  private final int modules;

  /**
   * Lists the files.
   *
   * @param limit the maximum number of modules; 0 for all
   * @param scale how often the second half of the modules is repeated, each time under another
   *     prefix
   */
  JdkFiles(int limit, int scale) {
    List<Path> roots = modules(limit);
    modules = roots.size();
    int half = (roots.size() + 1) / 2;
    for (Path root : roots.subList(0, half)) {
      list(root, "", small);
    }
    for (int copy = 1; copy <= scale; copy++) {
      for (Path root : roots.subList(half, roots.size())) {
        list(root, copy == 1 ? "" : "/copy-" + copy, big);
      }
    }
  }

  private static List<Path> modules(int limit) {
    try (Stream<Path> entries = Files.list(TOP)) {
      List<Path> all = entries.sorted().toList();
      return limit == 0 || limit >= all.size() ? all : all.subList(all.size() - limit, all.size());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the modules of this Java", e);
    }
  }

  private static void list(Path module, String prefix, List<Item> items) {
    try (Stream<Path> files = Files.walk(module)) {
      files
          .filter(Files::isRegularFile)
          .sorted()
          .map(file -> new Item(key(prefix + "/" + TOP.relativize(file)), file))
          .forEach(items::add);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + module, e);
    }
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Files of the first half of the modules: many small transactions. */
  List<Item> small() {
    return small;
  }

  /** Files of the others: one big transaction. */
  List<Item> big() {
    return big;
  }

  int modules() {
    return modules;
  }
}
