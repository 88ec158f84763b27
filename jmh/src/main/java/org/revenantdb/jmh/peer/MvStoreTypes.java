package org.revenantdb.jmh.peer;

import java.nio.ByteBuffer;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.StringDataType;
import org.revenantdb.jmh.work.IndexedItem;

/**
 * How an MVStore writes rows and index entries. Its documentation advises such types: without them
 * it would serialize the objects. It makes them again when it opens a store, so they are public.
 */
public final class MvStoreTypes {
  private static final int OBJECT = 24;

  private MvStoreTypes() {}

  /** Rows. */
  public static final class Items extends BasicDataType<IndexedItem> {
    /** Makes one. */
    public Items() {}

    @Override
    public int getMemory(IndexedItem item) {
      StringDataType strings = StringDataType.INSTANCE;
      return OBJECT + strings.getMemory(item.name()) + strings.getMemory(item.note());
    }

    @Override
    public void write(WriteBuffer buffer, IndexedItem item) {
      StringDataType.INSTANCE.write(buffer, item.name());
      WriteBuffer _ = buffer.putVarInt(item.number());
      StringDataType.INSTANCE.write(buffer, item.note());
    }

    @Override
    public IndexedItem read(ByteBuffer buffer) {
      String name = StringDataType.INSTANCE.read(buffer);
      int number = DataUtils.readVarInt(buffer);
      return new IndexedItem(name, number, StringDataType.INSTANCE.read(buffer));
    }

    @Override
    public IndexedItem[] createStorage(int size) {
      return new IndexedItem[size];
    }
  }

  /**
   * An entry of an index that is not unique.
   *
   * @param number what is indexed
   * @param key of the row
   */
  record Entry(int number, long key) {}

  /** Such entries, by number and key. */
  public static final class Entries extends BasicDataType<Entry> {
    /** Makes one. */
    public Entries() {}

    @Override
    public int compare(Entry one, Entry other) {
      int byNumber = Integer.compare(one.number, other.number);
      return byNumber == 0 ? Long.compare(one.key, other.key) : byNumber;
    }

    @Override
    public int getMemory(Entry entry) {
      return OBJECT;
    }

    @Override
    public void write(WriteBuffer buffer, Entry entry) {
      WriteBuffer _ = buffer.putVarInt(entry.number).putVarLong(entry.key);
    }

    @Override
    public Entry read(ByteBuffer buffer) {
      int number = DataUtils.readVarInt(buffer);
      return new Entry(number, DataUtils.readVarLong(buffer));
    }

    @Override
    public Entry[] createStorage(int size) {
      return new Entry[size];
    }
  }

  /** The values of a map whose keys have all: it allows no null. */
  public static final class NothingMore extends BasicDataType<Boolean> {
    /** Makes one. */
    public NothingMore() {}

    @Override
    public int getMemory(Boolean value) {
      return 0;
    }

    @Override
    public void write(WriteBuffer buffer, Boolean value) {
      // nothing to write
    }

    @Override
    public Boolean read(ByteBuffer buffer) {
      return Boolean.TRUE;
    }

    @Override
    public Boolean[] createStorage(int size) {
      return new Boolean[size];
    }
  }
}
