package org.revenantdb.kafka.streams;

import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;

/** Rows whose keys have times, as windows. */
record WindowedIterator(
    KeyValueIterator<Bytes, byte[]> rows, Function<byte[], Windowed<Bytes>> windows)
    implements KeyValueIterator<Windowed<Bytes>, byte[]> {
  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public KeyValue<Windowed<Bytes>, byte[]> next() {
    KeyValue<Bytes, byte[]> row = rows.next();
    return KeyValue.pair(windows.apply(row.key.get()), row.value);
  }

  @Override
  public Windowed<Bytes> peekNextKey() {
    return windows.apply(rows.peekNextKey().get());
  }

  @Override
  public void close() {
    rows.close();
  }
}
