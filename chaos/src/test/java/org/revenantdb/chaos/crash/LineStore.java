package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A store of lines: a log of {@code key=value}, and a snapshot that replaces it from time to time.
 * Correct for process death unless a flaw is chosen.
 */
final class LineStore implements AutoCloseable {

  /** The flaws. */
  enum Break {
    /** Written lines stay in the heap until there are ten. */
    BUFFER_IN_THE_HEAP,
    /** Recovery takes the last whole line for a torn one. */
    DROPS_THE_LAST_LINE,
    /** The log is emptied before the snapshot has its name. */
    EMPTIES_THE_LOG_FIRST,
    /** Two processes may open it. */
    NO_LOCK,
    /** Closing loses the log. */
    FORGETS_ON_CLOSE
  }

  private static final int LINES_IN_THE_LOG = 25;

  private final Path dir;
  private final Set<Break> breaks;
  private final FileChannel lockFile;
  private final FileChannel log;
  private final Map<String, String> content = new TreeMap<>();
  private StringBuilder heap = new StringBuilder();
  private int lines;
  private long end;

  private LineStore(Path dir, Set<Break> breaks, FileChannel lockFile) throws IOException {
    this.dir = dir;
    this.breaks = breaks;
    this.lockFile = lockFile;
    this.log =
        FileChannel.open(
            dir.resolve("log"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  static LineStore open(Path dir, Break... breaks) throws IOException {
    Set<Break> set = EnumSet.noneOf(Break.class);
    set.addAll(List.of(breaks));
    FileChannel lockFile =
        FileChannel.open(dir.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = set.contains(Break.NO_LOCK) ? null : lockFile.tryLock();
    if (lock == null && !set.contains(Break.NO_LOCK)) {
      throw new IOException("somebody else has the store");
    }
    LineStore store = new LineStore(dir, set, lockFile);
    store.recover();
    return store;
  }

  private void recover() throws IOException {
    Path snapshot = dir.resolve("snapshot");
    if (Files.exists(snapshot)) {
      Files.readAllLines(snapshot).forEach(this::apply);
    }
    ByteBuffer bytes = ByteBuffer.allocate((int) log.size());
    while (bytes.hasRemaining() && log.read(bytes, bytes.position()) > 0) {}
    String text = new String(bytes.array(), StandardCharsets.UTF_8);
    int whole = text.lastIndexOf('\n') + 1;
    if (breaks.contains(Break.DROPS_THE_LAST_LINE) && whole > 0) {
      whole = text.lastIndexOf('\n', whole - 2) + 1;
    }
    text.substring(0, whole).lines().forEach(this::apply);
    lines = (int) text.substring(0, whole).lines().count();
    log.truncate(whole);
    end = whole;
  }

  private void apply(String line) {
    String[] parts = line.split("=", 2);
    content.put(parts[0], parts[1]);
  }

  synchronized void put(String key, String value) throws IOException {
    heap.append(key).append('=').append(value).append('\n');
    content.put(key, value);
    lines++;
    if (!breaks.contains(Break.BUFFER_IN_THE_HEAP) || lines % 10 == 0) {
      flush();
    }
    if (lines >= LINES_IN_THE_LOG) {
      snapshot();
    }
  }

  /** On return no kill can take a line back. */
  synchronized void sync() throws IOException {
    flush();
  }

  private void flush() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(heap.toString().getBytes(StandardCharsets.UTF_8));
    heap = new StringBuilder();
    while (bytes.hasRemaining()) {
      end += log.write(bytes, end);
    }
  }

  private void snapshot() throws IOException {
    flush();
    StringBuilder all = new StringBuilder();
    content.forEach((key, value) -> all.append(key).append('=').append(value).append('\n'));
    Path next = dir.resolve("snapshot.next");
    Files.writeString(next, all);
    if (breaks.contains(Break.EMPTIES_THE_LOG_FIRST)) {
      log.truncate(0);
    }
    Files.move(next, dir.resolve("snapshot"), StandardCopyOption.ATOMIC_MOVE);
    log.truncate(0);
    end = 0;
    lines = 0;
  }

  synchronized @Nullable String get(String key) {
    return content.get(key);
  }

  @Override
  public synchronized void close() throws IOException {
    flush();
    if (breaks.contains(Break.FORGETS_ON_CLOSE)) {
      log.truncate(0);
    }
    log.close();
    lockFile.close();
  }
}
