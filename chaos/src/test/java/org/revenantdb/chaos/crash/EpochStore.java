package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store without a lock that a zombie cannot damage: each opening writes a log of its own, and a
 * process that finds a newer log stops writing.
 */
final class EpochStore implements AutoCloseable {

  private final Path dir;
  private final long epoch;
  private final FileChannel log;
  private final Map<String, String> content;

  private EpochStore(Path dir, long epoch, Map<String, String> content) throws IOException {
    this.dir = dir;
    this.epoch = epoch;
    this.content = content;
    this.log =
        FileChannel.open(
            dir.resolve("log" + epoch), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  static EpochStore open(Path dir) throws IOException {
    Map<String, String> content = new TreeMap<>();
    List<Long> epochs = epochs(dir);
    for (long epoch : epochs) {
      String text = Files.readString(dir.resolve("log" + epoch));
      text.substring(0, text.lastIndexOf('\n') + 1)
          .lines()
          .map(line -> line.split("=", 2))
          .forEach(parts -> content.put(parts[0], parts[1]));
    }
    return new EpochStore(dir, epochs.isEmpty() ? 1 : epochs.getLast() + 1, content);
  }

  private static List<Long> epochs(Path dir) throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files
          .map(file -> Long.parseLong(String.valueOf(file.getFileName()).substring(3)))
          .sorted()
          .toList();
    }
  }

  void put(String key, String value) throws IOException {
    if (epochs(dir).getLast() != epoch) {
      throw new IOException("somebody else has the store now");
    }
    ByteBuffer line = ByteBuffer.wrap((key + "=" + value + "\n").getBytes(StandardCharsets.UTF_8));
    while (line.hasRemaining()) {
      log.write(line);
    }
    content.put(key, value);
  }

  @Nullable String get(String key) {
    return content.get(key);
  }

  @Override
  public void close() throws IOException {
    log.close();
  }
}
