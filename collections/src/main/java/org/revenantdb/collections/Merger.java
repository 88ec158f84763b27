package org.revenantdb.collections;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.merge.Combiner;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * Merges values into rows that many threads change at once, such as counters. {@link
 * TypedTable#merger} makes one.
 *
 * {@snippet :
 * Merger<String, Long> hits = counters.merger(Long::sum);
 * long now = hits.merge("page 1", 1L);
 * }
 *
 * <p>Each call is a transaction of its own. Calls that come at the same time are combined: one of
 * the threads reads the row, merges all their values, and commits once for all of them. So threads
 * do not wait for each other's commits, and have no conflicts with each other. If a combined commit
 * has a conflict with other transactions, each call is tried alone, so that no call fails because
 * of another one.
 *
 * <p><b>Threads.</b> Thread-safe. The function is called by any of the threads, and again after a
 * conflict with other transactions. It must not wait for a thread that merges. It must not change
 * its arguments: they belong to the callers, and are merged again after a conflict.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class Merger<K, V> {
  private static final int STRIPES = 16; // a power of two

  private final TypedTable<K, V> table;
  private final Database database;
  private final TransactionOptions options;
  private final BiFunction<? super V, ? super V, ? extends @Nullable V> function;
  private final List<Combiner<Request<K, V>>> stripes = new ArrayList<>(STRIPES);

  private static final class Request<K, V> extends Combiner.Request {
    private final K key;
    private final ByteBuffer bytes;
    private final V value;
    private @Nullable V result;

    Request(K key, ByteBuffer bytes, V value) {
      this.key = key;
      this.bytes = bytes;
      this.value = value;
    }
  }

  Merger(
      TypedTable<K, V> table,
      Database database,
      TransactionOptions options,
      BiFunction<? super V, ? super V, ? extends @Nullable V> function) {
    this.table = table;
    this.database = database;
    this.options = Objects.requireNonNull(options, "options must not be null");
    this.function = Objects.requireNonNull(function, "function must not be null");
    for (int i = 0; i < STRIPES; i++) {
      stripes.add(new Combiner<>(this::mergeAll, ConflictException.class::isInstance));
    }
  }

  /**
   * Merges a value into the row of a key. If there is no row, stores the value. Otherwise stores
   * the result of the function for the present value and this one. Returns when that is committed,
   * and is durable unless the options are lazy.
   *
   * @param key the key
   * @param value stored if there is no such row
   * @return the value that this call has stored, or null if the function has deleted the row
   */
  public @Nullable V merge(K key, V value) {
    Objects.requireNonNull(value, "value must not be null");
    ByteBuffer bytes = ByteBuffer.wrap(table.keyBytes(key));
    Request<K, V> request = new Request<>(key, bytes, value);
    int hash = bytes.hashCode();
    stripes.get((hash ^ (hash >>> 16)) & (STRIPES - 1)).carryOut(request);
    Throwable failure = request.failure();
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return request.result;
  }

  private void mergeAll(List<Request<K, V>> batch) {
    Map<ByteBuffer, List<Request<K, V>>> byKey = new LinkedHashMap<>();
    for (Request<K, V> each : batch) {
      byKey.computeIfAbsent(each.bytes, _ -> new ArrayList<>(batch.size())).add(each);
    }
    database.run(
        options,
        tx -> {
          for (List<Request<K, V>> ofKey : byKey.values()) {
            mergeTogether(tx, ofKey);
          }
        });
  }

  private void mergeTogether(Transaction tx, List<Request<K, V>> requests) {
    try {
      V _ =
          table.compute(
              tx,
              requests.getFirst().key,
              (_, before) -> {
                V now = before;
                for (Request<K, V> each : requests) {
                  now = merged(now, each);
                }
                return now;
              });
    } catch (ConflictException conflict) {
      throw conflict;
    } catch (RuntimeException refused) { // perhaps because of one of them
      for (Request<K, V> each : requests) {
        mergeAlone(tx, each);
      }
    }
  }

  /** The value after a request; unchanged if its function throws. */
  private @Nullable V merged(@Nullable V before, Request<K, V> request) {
    request.failed(null);
    try {
      V now = before == null ? request.value : function.apply(before, request.value);
      request.result = now;
      return now;
    } catch (RuntimeException thrown) {
      request.failed(thrown);
      return before;
    }
  }

  private void mergeAlone(Transaction tx, Request<K, V> request) {
    request.failed(null);
    try {
      request.result = table.merge(tx, request.key, request.value, function);
    } catch (ConflictException conflict) {
      throw conflict;
    } catch (RuntimeException refused) {
      request.failed(refused);
    }
  }
}
