package org.revenantdb.collections;

import org.revenantdb.engine.RevenantException;

/**
 * A codec has thrown an exception, or cannot read the bytes of a row. The message has the table,
 * the key and the message of the codec; the cause is the exception of the codec.
 *
 * <p>The statement has changed nothing, and the transaction stays open and usable.
 */
public final class CodecException extends RevenantException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception.
   *
   * @param message what happened, and what to do
   * @param cause what the codec has thrown
   */
  public CodecException(String message, Throwable cause) {
    super(message, cause);
  }
}
