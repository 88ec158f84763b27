package org.revenantdb.engine;

/**
 * What a {@linkplain Isolation#SERIALIZABLE serializable} transaction has read is no more so:
 * another has committed, or was prepared, that would have changed an answer. Roll back and try
 * again, as {@link Database#run} does.
 */
public final class SerializationConflictException extends ConflictException {
  private static final long serialVersionUID = 1L;

  SerializationConflictException(String message) {
    super(ConflictReason.NOT_SERIALIZABLE, message);
  }
}
