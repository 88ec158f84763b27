package org.revenantdb.suite.model;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.SnapshotModel;

/**
 * A store of a few lines in memory, with a log: correct, or broken in one chosen way.
 *
 * <p>It proves that the model finds errors before the model is used with a real store.
 */
public final class ToyStore implements Store {

  /** The ways in which it can be broken. */
  enum Lie {
    NONE,
    /** Acknowledges a commit and writes the log only with the next commits: a kill loses some. */
    LATE_LOG,
    /** Writes each row as a separate record: a kill leaves half a transaction. */
    ROW_BY_ROW,
    /** Does not log a deletion: the row is back after a restart. */
    DELETIONS_UNLOGGED,
    /** Also logs transactions that were rolled back. */
    ROLLBACK_LOGGED,
    /** Reads a row from the log with bytes of its neighbour. */
    MIXED_BYTES,
    /** Lets two transactions write the same row. */
    NO_CONFLICTS,
    /** Reads the present committed state instead of the snapshot. */
    NO_SNAPSHOT,
    /** Writes through a channel on the caller's thread: an interrupt closes it. */
    INTERRUPTIBLE
  }

  /** Opens the correct store. */
  public static final class Honest extends ToyOpener {
    public Honest() {
      super(Lie.NONE);
    }
  }

  public static final class LateLog extends ToyOpener {
    public LateLog() {
      super(Lie.LATE_LOG);
    }
  }

  public static final class RowByRow extends ToyOpener {
    public RowByRow() {
      super(Lie.ROW_BY_ROW);
    }
  }

  public static final class DeletionsUnlogged extends ToyOpener {
    public DeletionsUnlogged() {
      super(Lie.DELETIONS_UNLOGGED);
    }
  }

  public static final class RollbackLogged extends ToyOpener {
    public RollbackLogged() {
      super(Lie.ROLLBACK_LOGGED);
    }
  }

  public static final class MixedBytes extends ToyOpener {
    public MixedBytes() {
      super(Lie.MIXED_BYTES);
    }
  }

  public static final class NoConflicts extends ToyOpener {
    public NoConflicts() {
      super(Lie.NO_CONFLICTS);
    }
  }

  public static final class NoSnapshot extends ToyOpener {
    public NoSnapshot() {
      super(Lie.NO_SNAPSHOT);
    }
  }

  public static final class Interruptible extends ToyOpener {
    public Interruptible() {
      super(Lie.INTERRUPTIBLE);
    }
  }

  abstract static class ToyOpener implements Opener {

    private final Lie lie;

    ToyOpener(Lie lie) {
      this.lie = lie;
    }

    @Override
    public Store open(Path dir, Limits limits) {
      try {
        return new ToyStore(dir, lie);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final int HEADER = Integer.BYTES + Long.BYTES;
  private static final int KEPT_BACK = 3;

  private record Key(String table, byte[] bytes) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = table.compareTo(other.table);
      return order != 0 ? order : Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && compareTo(key) == 0;
    }

    @Override
    public int hashCode() {
      return 31 * table.hashCode() + Arrays.hashCode(bytes);
    }
  }

  private final Lie lie;
  private final RandomAccessFile log;
  private final SnapshotModel<Key, byte[]> rows = new SnapshotModel<>();
  private final Deque<byte[]> keptBack = new ArrayDeque<>();
  private long logBytes;
  private boolean closed;

  private ToyStore(Path dir, Lie lie) throws IOException {
    this.lie = lie;
    Files.createDirectories(dir);
    this.log = new RandomAccessFile(dir.resolve("toy.log").toFile(), "rw");
    var replay = rows.begin();
    for (byte[] record; (record = next()) != null; ) {
      replay(record, replay);
    }
    replay.commit();
    log.setLength(logBytes);
    log.seek(logBytes);
  }

  /** The record at the end of the bytes read so far, or null where the log ends. */
  private byte @Nullable [] next() throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    if (!fill(header, logBytes)) {
      return null;
    }
    ByteBuffer body = ByteBuffer.allocate(header.getInt(0));
    if (!fill(body, logBytes + HEADER) || crc(body.array()) != header.getLong(Integer.BYTES)) {
      return null;
    }
    logBytes += HEADER + body.capacity();
    return body.array();
  }

  private boolean fill(ByteBuffer buffer, long position) throws IOException {
    while (buffer.hasRemaining()) {
      if (log.getChannel().read(buffer, position + buffer.position()) < 0) {
        return false;
      }
    }
    return true;
  }

  private static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  private void replay(byte[] record, SnapshotModel<Key, byte[]>.Session session)
      throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(record));
    while (in.available() > 0) {
      Key key = new Key(in.readUTF(), in.readNBytes(in.readInt()));
      int length = in.readInt();
      byte[] value = length < 0 ? null : in.readNBytes(length);
      if (lie == Lie.MIXED_BYTES && length > 100) {
        value[length - 1] ^= 1;
      }
      session.change(key, value);
    }
  }

  private static byte[] encode(Map<Key, byte @Nullable []> changes, Lie lie) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (Map.Entry<Key, byte @Nullable []> change : changes.entrySet()) {
        byte[] value = change.getValue();
        if (value == null && lie == Lie.DELETIONS_UNLOGGED) {
          continue;
        }
        out.writeUTF(change.getKey().table);
        out.writeInt(change.getKey().bytes.length);
        out.write(change.getKey().bytes);
        out.writeInt(value == null ? -1 : value.length);
        if (value != null) {
          out.write(value);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private void log(Map<Key, byte @Nullable []> changes) {
    if (lie == Lie.ROW_BY_ROW) {
      changes.forEach((key, value) -> {
        TreeMap<Key, byte @Nullable []> one = new TreeMap<>();
        one.put(key, value);
        append(encode(one, lie));
        force();
      });
      return;
    }
    keptBack.add(encode(changes, lie));
    while (keptBack.size() > (lie == Lie.LATE_LOG ? KEPT_BACK : 0)) {
      append(keptBack.remove());
    }
  }

  /** Slow, so that kills fall between two rows. */
  private void force() {
    try {
      log.getFD().sync();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void append(byte[] record) {
    ByteBuffer buffer =
        ByteBuffer.allocate(HEADER + record.length)
            .putInt(record.length)
            .putLong(crc(record))
            .put(record)
            .flip();
    try {
      if (lie == Lie.INTERRUPTIBLE) {
        log.getChannel().write(buffer);
      } else {
        log.write(buffer.array());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized Tx begin() {
    return new ToyTx(rows.begin());
  }

  @Override
  public Recovery recovery() {
    return new Recovery(false, 0, logBytes, 0);
  }

  @Override
  public Counters counters() {
    return new Counters(1, 1, 1, 1, 1);
  }

  @Override
  public Check check() {
    return new Check(List.of(), 0);
  }

  @Override
  public void checkpoint() {}

  @Override
  public void clean() {}

  @Override
  public synchronized void close() {
    try {
      keptBack.forEach(this::append);
      closed = true;
      log.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class ToyTx implements Tx {

    private final SnapshotModel<Key, byte[]>.Session session;
    private final TreeMap<Key, byte @Nullable []> changes = new TreeMap<>();
    private boolean ended;

    ToyTx(SnapshotModel<Key, byte[]>.Session session) {
      this.session = session;
    }

    private NavigableMap<Key, byte[]> seen() {
      if (lie == Lie.NO_SNAPSHOT && changes.isEmpty()) {
        return new TreeMap<>(rows.committed());
      }
      if (lie == Lie.NO_CONFLICTS) {
        return overlaid();
      }
      return session.rows();
    }

    private NavigableMap<Key, byte[]> overlaid() {
      TreeMap<Key, byte[]> all = new TreeMap<>(session.rows());
      changes.forEach((key, value) -> {
        if (value == null) {
          all.remove(key);
        } else {
          all.put(key, value);
        }
      });
      return all;
    }

    /** Changes that the model of the store refused are made when the row is free. */
    private void forceChanges() {
      var later = rows.begin();
      changes.forEach((key, value) -> {
        if (!later.conflicts(key)) {
          later.change(key, value);
        }
      });
      later.commit();
    }

    @Override
    public byte @Nullable [] get(String table, byte[] key) {
      synchronized (ToyStore.this) {
        return seen().get(new Key(table, key));
      }
    }

    @Override
    public @Nullable InputStream open(String table, byte[] key) {
      byte[] value = get(table, key);
      return value == null ? null : new ByteArrayInputStream(value);
    }

    @Override
    public void put(String table, byte[] key, byte[] value) {
      change(new Key(table, key), value);
    }

    @Override
    public void put(String table, byte[] key, InputStream value) throws IOException {
      change(new Key(table, key), value.readAllBytes());
    }

    @Override
    public boolean delete(String table, byte[] key) {
      if (get(table, key) == null) {
        return false;
      }
      change(new Key(table, key), null);
      return true;
    }

    private void change(Key key, byte @Nullable [] value) {
      synchronized (ToyStore.this) {
        if (session.conflicts(key)) {
          if (lie != Lie.NO_CONFLICTS) {
            throw new ConflictException(null);
          }
          changes.put(key, value);
          return;
        }
        session.change(key, value);
        changes.put(key, value);
      }
    }

    @Override
    public Rows scan(
        String table, byte @Nullable [] from, byte @Nullable [] to, boolean descending) {
      Key low = new Key(table, from == null ? new byte[0] : from);
      Key high = to == null ? new Key(table + "\0", new byte[0]) : new Key(table, to);
      synchronized (ToyStore.this) {
        NavigableMap<Key, byte[]> range =
            low.compareTo(high) <= 0 ? seen().subMap(low, true, high, false) : new TreeMap<>();
        NavigableMap<Key, byte[]> ordered = descending ? range.descendingMap() : range;
        return new ToyRows(new ArrayList<>(ordered.entrySet()).iterator());
      }
    }

    @Override
    public void commit() {
      synchronized (ToyStore.this) {
        log(changes);
        session.commit();
        if (lie == Lie.NO_CONFLICTS) {
          forceChanges();
        }
        ended = true;
      }
    }

    @Override
    public void rollback() {
      synchronized (ToyStore.this) {
        if (!ended && !closed && lie == Lie.ROLLBACK_LOGGED) {
          log(changes);
        }
        session.rollback();
        ended = true;
      }
    }

    @Override
    public void close() {
      if (!ended) {
        rollback();
      }
    }
  }

  private static final class ToyRows implements Rows {

    private final Iterator<Map.Entry<Key, byte[]>> rows;
    private Map.@Nullable Entry<Key, byte[]> row;

    ToyRows(Iterator<Map.Entry<Key, byte[]>> rows) {
      this.rows = rows;
    }

    @Override
    public boolean next() {
      row = rows.hasNext() ? rows.next() : null;
      return row != null;
    }

    @Override
    public byte[] key() {
      return row.getKey().bytes;
    }

    @Override
    public byte[] value() {
      return row.getValue();
    }

    @Override
    public InputStream openValue() {
      return new ByteArrayInputStream(value());
    }

    @Override
    public void close() {}
  }
}
