package org.revenantdb.recovery.restart;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.segment.LogReader;

/**
 * A transaction that is prepared, and the body of the {@link RecordType#PREPARE} record that says
 * so; {@code docs/protocols.md} §29.
 *
 * <pre>
 *   40            44       48
 *   +-------------+--------+------+-----------------
 *   | name length | tables | name | ids of the tables
 *   +-------------+--------+------+-----------------
 * </pre>
 *
 * Immutable.
 */
public final class PreparedTransaction {
  private static final int NAME_LENGTH = LogRecordLayout.HEADER;
  private static final int TABLES = NAME_LENGTH + Integer.BYTES;
  private static final int BODY = TABLES + Integer.BYTES;

  private final long id;
  private final byte[] name;
  private final int[] tables;

  /**
   * A prepared transaction.
   *
   * @param id its id
   * @param name what its coordinator calls it
   * @param tables ids of the tables that it has written to
   */
  public PreparedTransaction(long id, byte[] name, int[] tables) {
    this.id = id;
    this.name = name.clone();
    this.tables = tables.clone();
  }

  /**
   * Its id.
   *
   * @return as in its rows
   */
  public long id() {
    return id;
  }

  /**
   * What its coordinator calls it.
   *
   * @return a copy
   */
  public byte[] name() {
    return name.clone();
  }

  /**
   * How many tables it has written to.
   *
   * @return the number
   */
  public int tables() {
    return tables.length;
  }

  /** A copy of the ids of the tables that it has written to. */
  int[] tableIds() {
    return tables.clone();
  }

  /**
   * Whether it has written to a table.
   *
   * @param table the table's id
   * @return true if it has
   */
  public boolean hasWritten(int table) {
    return Arrays.stream(tables).anyMatch(written -> written == table);
  }

  /**
   * Bytes of its record, padding included.
   *
   * @return the length
   */
  public int recordBytes() {
    return LogRecordLayout.aligned(BODY + name.length + tables.length * Integer.BYTES);
  }

  /**
   * Builds its record.
   *
   * @param record where
   * @return the builder
   */
  public RecordBuilder build(RecordBuilder record) {
    record.begin(RecordType.PREPARE, id);
    record.putInt(name.length);
    record.putInt(tables.length);
    record.putBytes(name, 0, name.length);
    for (int table : tables) {
      record.putInt(table);
    }
    return record;
  }

  /** What a record says, null if it makes no sense. */
  static @Nullable PreparedTransaction of(LogReader record) {
    int rest = record.contentLength() - BODY;
    int length = rest < 0 ? -1 : record.getInt(NAME_LENGTH);
    int count = rest < 0 ? -1 : record.getInt(TABLES);
    if (length < 0 || count < 0 || length + (long) count * Integer.BYTES != rest) {
      return null;
    }
    int from = record.offset() + BODY;
    int[] tables = new int[count];
    for (int i = 0; i < count; i++) {
      tables[i] = record.getInt(BODY + length + i * Integer.BYTES);
    }
    return new PreparedTransaction(
        record.transactionId(), Arrays.copyOfRange(record.array(), from, from + length), tables);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof PreparedTransaction that
        && that.id == id
        && Arrays.equals(that.name, name)
        && Arrays.equals(that.tables, tables);
  }

  @Override
  public int hashCode() {
    return Objects.hash(id, Arrays.hashCode(name));
  }

  @Override
  public String toString() {
    return "transaction " + id + ", prepared";
  }
}
