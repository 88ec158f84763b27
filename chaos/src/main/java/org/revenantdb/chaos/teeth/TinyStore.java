package org.revenantdb.chaos.teeth;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A key-value store of one file of records, as small as a correct one can be.
 *
 * <p>A put or removal that returned is durable. After a failure the store stops and accepts nothing
 * more. The change that failed may be there or not after the next opening.
 *
 * <p>Threads: one. Limits: all content is in memory and is written anew at each opening. A record
 * that was damaged after it had been forced silently ends the log, with everything behind it.
 */
public final class TinyStore implements AutoCloseable {
  /*
   * Files       current   the number of the valid log, and a CRC of it
   *             log-<n>   records, only ever appended
   *             others    left by a crash during a switch; deleted by the next switch
   *
   * Append      1 write the record  2 force the log  3 answer
   * Switch      1 write all content to a new log under a number never used, force it
   *             2 write current.tmp, force it
   *             3 force the directory: the new log has a name before current refers to it
   *             4 rename current.tmp to current
   *             5 force the directory: from here on the new log is valid, whatever happens
   *             6 delete every other file
   *   Crash before 4: the old log is valid. Between 4 and 5: either is, and both have the same
   *   content; no record is appended before 5. If 6 is lost: files that are never read.
   *
   * Opening     Reads the valid log, up to the first record that is not complete, and switches. So
   *             a log is continued only by the process that began it, and nothing is ever written
   *             behind a torn record. What was read need not be on the disk: after a failed force,
   *             pages may be clean and lost. The copy is on the disk.
   *
   * Invariants  I1 every file that current may refer to after a crash is complete up to its last
   *             acknowledged record.
   *             I2 after a failure nothing is written: the content of the files is in doubt.
   */

  private static final String CURRENT = "current";
  private static final String LOG = "log-";
  private static final int SWITCH_AT = 8 << 10;
  private static final int HELD_IN_HEAP = 8;

  private final Path dir;
  private final Flaw flaw;
  private final SortedMap<String, String> content = new TreeMap<>();
  private final List<ByteBuffer> held = new ArrayList<>();
  private @Nullable FileChannel log;
  private long number;
  private boolean stopped;

  private TinyStore(Path dir, Flaw flaw) {
    this.dir = dir;
    this.flaw = flaw;
  }

  /**
   * Opens a store, or creates it in an empty directory.
   *
   * @param dir an existing directory with nothing else in it
   * @return the open store
   * @throws IOException if files cannot be read or written, or are damaged
   */
  public static TinyStore open(Path dir) throws IOException {
    return open(dir, Flaw.NONE);
  }

  /**
   * Opens a store that is broken in one step.
   *
   * @param dir an existing directory with nothing else in it
   * @param flaw the step
   * @return the open store
   * @throws IOException if files cannot be read or written, or are damaged
   */
  public static TinyStore open(Path dir, Flaw flaw) throws IOException {
    TinyStore store = new TinyStore(dir, flaw);
    long whole = store.load();
    try {
      if (flaw == Flaw.CACHE_TRUSTED && whole >= 0) {
        store.continueLog(whole);
      } else {
        store.switchLog();
      }
    } catch (Throwable e) {
      store.close();
      throw e;
    }
    return store;
  }

  /**
   * Returns the value of a key.
   *
   * @param key the key
   * @return null if there is none
   */
  public @Nullable String get(String key) {
    return content.get(key);
  }

  /**
   * Returns all keys with their values.
   *
   * @return a view
   */
  public Map<String, String> content() {
    return Collections.unmodifiableSortedMap(content);
  }

  /**
   * Puts a value, durable when this returns.
   *
   * @param key the key
   * @param value its new value
   * @throws IOException if the change is in doubt; the store has stopped
   */
  public void put(String key, String value) throws IOException {
    change(new LogRecord(key, value));
  }

  /**
   * Removes a key, durably when this returns.
   *
   * @param key the key; need not be there
   * @throws IOException if the change is in doubt; the store has stopped
   */
  public void remove(String key) throws IOException {
    change(new LogRecord(key, null));
  }

  private void change(LogRecord record) throws IOException {
    FileChannel to = log;
    if (stopped || to == null) {
      throw new IOException("the store was closed, or stopped after a failure");
    }
    stopped = true;
    append(to, record.encode());
    apply(record);
    if (to.position() >= SWITCH_AT) {
      switchLog();
    }
    stopped = false;
  }

  private void append(FileChannel to, ByteBuffer record) throws IOException {
    switch (flaw) {
      case NO_FORCE -> write(to, record);
      case ACKNOWLEDGED_BEFORE_FORCE -> {
        force(to);
        write(to, record);
      }
      case ACKNOWLEDGED_FROM_HEAP -> {
        held.add(record);
        if (held.size() > HELD_IN_HEAP) {
          write(to, held.removeFirst());
          force(to);
        }
      }
      default -> {
        write(to, record);
        force(to);
      }
    }
  }

  private void apply(LogRecord record) {
    String value = record.value();
    if (value == null) {
      content.remove(record.key());
    } else {
      content.put(record.key(), value);
    }
  }

  /** Begins a new log with all content. */
  private void switchLog() throws IOException {
    number = highestLog() + 1;
    FileChannel next = create(LOG + number);
    FileChannel former = log;
    log = next;
    if (former != null) {
      former.close();
    }
    held.clear();
    for (Map.Entry<String, String> entry : content.entrySet()) {
      write(next, new LogRecord(entry.getKey(), entry.getValue()).encode());
    }
    force(next);
    Path temporary = dir.resolve(CURRENT + ".tmp");
    Files.deleteIfExists(temporary);
    try (FileChannel channel = create(CURRENT + ".tmp")) {
      write(channel, pointer(number));
      force(channel);
    }
    forceDirectory();
    Files.move(
        temporary,
        dir.resolve(CURRENT),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    forceDirectory();
    deleteAllBut(LOG + number);
  }

  private void deleteAllBut(String logThatCounts) throws IOException {
    for (String name : names()) {
      if (!name.equals(CURRENT) && !name.equals(logThatCounts)) {
        Files.delete(dir.resolve(name));
      }
    }
  }

  /** The flaw {@link Flaw#CACHE_TRUSTED}: the names of these files may not be on the disk. */
  private void continueLog(long whole) throws IOException {
    String name = LOG + number;
    log = FileChannel.open(dir.resolve(name), StandardOpenOption.WRITE);
    log.truncate(whole).position(whole);
    deleteAllBut(name);
  }

  /**
   * Reads the valid log. Returns the end of its last complete record, negative if there is no log.
   */
  private long load() throws IOException {
    byte[] pointer;
    try {
      pointer = Files.readAllBytes(dir.resolve(CURRENT));
    } catch (NoSuchFileException e) {
      return -1; // Nothing was ever promised: the first switch comes before the first promise.
    }
    if (pointer.length != 12
        || !pointer(ByteBuffer.wrap(pointer).getLong()).equals(ByteBuffer.wrap(pointer))) {
      throw new IOException(CURRENT + " is damaged");
    }
    number = ByteBuffer.wrap(pointer).getLong();
    ByteBuffer records = ByteBuffer.wrap(Files.readAllBytes(dir.resolve(LOG + number)));
    for (LogRecord record;
        (record = LogRecord.decode(records, flaw != Flaw.RECORD_WITHOUT_CRC)) != null; ) {
      apply(record);
    }
    return records.position();
  }

  private static ByteBuffer pointer(long number) {
    ByteBuffer bytes = ByteBuffer.allocate(12).putLong(number);
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(0, 8));
    return bytes.putInt((int) crc.getValue()).flip();
  }

  private FileChannel create(String name) throws IOException {
    return FileChannel.open(
        dir.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private static void write(FileChannel to, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      to.write(bytes);
    }
  }

  private void force(FileChannel channel) throws IOException {
    try {
      channel.force(true);
    } catch (IOException e) {
      if (flaw != Flaw.FORCE_ERROR_SWALLOWED) {
        throw e;
      }
    }
  }

  private void forceDirectory() throws IOException {
    if (flaw != Flaw.NO_DIRECTORY_FORCE) {
      try (FileChannel directory = FileChannel.open(dir, StandardOpenOption.READ)) {
        force(directory);
      }
    }
  }

  private void spill(FileChannel to) throws IOException {
    for (ByteBuffer record : held) {
      write(to, record);
    }
    held.clear();
    force(to);
  }

  private long highestLog() throws IOException {
    long highest = 0;
    for (String name : names()) {
      if (name.startsWith(LOG)) {
        highest = Math.max(highest, Long.parseLong(name.substring(LOG.length())));
      }
    }
    return highest;
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.map(file -> String.valueOf(file.getFileName())).toList();
    }
  }

  /** Closes the log. Promised changes are durable without it. */
  @Override
  public void close() throws IOException {
    FileChannel open = log;
    log = null;
    if (open != null) {
      try (open) {
        if (!stopped && !held.isEmpty()) {
          spill(open);
        }
      }
    }
  }
}
