package org.revenantdb.engine;

import java.util.Objects;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.page.KeyBuffer;
import org.revenantdb.engine.version.ValueBuffer;

/**
 * Keys that are read by one statement: {@link Transaction#getAll(Table, KeyBatch, ValueVisitor)}.
 *
 * <p>A batch has the bytes of all its keys, and room for the values that are read. So neither a key
 * nor a value needs an array of its own. A batch that is cleared and filled again allocates almost
 * nothing. It keeps at most 64 KiB for values, and the room for the most keys that it ever had.
 *
 * <p>Not thread-safe. A batch must not be changed or read again while it is being read; a visitor
 * that does it receives {@link IllegalStateException}.
 *
 * {@snippet :
 * KeyBatch keys = new KeyBatch();
 * for (long id : ids) {
 *   keys.add(encode(id));
 * }
 * tx.getAll(orders, keys, (index, bytes, offset, length) -> found[index] = decode(bytes, offset, length));
 * }
 */
public final class KeyBatch {
  private static final int MAX_BYTES = 1 << 30;

  private final KeyBuffer keys = new KeyBuffer();
  private final ValueBuffer values = new ValueBuffer();
  private boolean isRead;

  /** Makes a batch without keys. */
  public KeyBatch() {}

  /**
   * Adds a key. It gets the next index: the first key has index 0.
   *
   * @param key 1 to {@link Database#MAX_KEY_BYTES} bytes, which are copied
   * @return this batch
   * @throws LimitException with {@link LimitException.Reason#KEY_LENGTH} if it is empty or too
   *     long, or if all keys have more than 1 GiB together
   */
  public KeyBatch add(byte[] key) {
    Transaction.checkKey(key);
    return added(key, 0, key.length);
  }

  /**
   * Adds a key that is a part of an array.
   *
   * @param bytes the array, from which the key is copied
   * @param offset of the first byte of the key
   * @param length 1 to {@link Database#MAX_KEY_BYTES}
   * @return this batch
   * @throws LimitException with {@link LimitException.Reason#KEY_LENGTH} if it is empty or too
   *     long, or if all keys have more than 1 GiB together
   */
  public KeyBatch add(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    Transaction.checkKeyLength(length);
    return added(bytes, offset, length);
  }

  private KeyBatch added(byte[] bytes, int offset, int length) {
    demandIdle();
    if (length > MAX_BYTES - keys.bytesUsed()) {
      throw new LimitException(
          LimitException.Reason.KEY_LENGTH,
          "the keys of a batch may have "
              + MAX_BYTES
              + " bytes together; read them in several statements");
    }
    keys.add(bytes, offset, length);
    return this;
  }

  /** Removes all keys. */
  public void clear() {
    demandIdle();
    keys.clear();
    values.clear();
  }

  /**
   * The number of keys.
   *
   * @return as many as were added since it was made or cleared
   */
  public int size() {
    return keys.size();
  }

  /**
   * A key.
   *
   * @param index its index
   * @return a copy
   */
  public byte[] key(int index) {
    return keys.key(Objects.checkIndex(index, keys.size()));
  }

  /** From now on it is being read. */
  void begin() {
    demandIdle();
    isRead = true;
  }

  /** It is no longer read. */
  void end() {
    isRead = false;
    values.clear();
  }

  private void demandIdle() {
    if (isRead) {
      throw new Misuse.OfState(
          "the batch is being read; a visitor that reads other rows needs a batch of its own");
    }
  }

  KeyBuffer keys() {
    return keys;
  }

  ValueBuffer values() {
    return values;
  }
}
