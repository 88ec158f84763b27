package org.revenantdb.engine;

/**
 * What a {@linkplain Isolation#SERIALIZABLE serializable} transaction has read is no more so:
 * another has committed, or was prepared, that would have changed an answer. It is told when the
 * transaction is to be committed or prepared, and then that can only be rolled back; or by a read
 * that has waited for a prepared transaction, which has committed. Roll back and try again, as
 * {@link Database#run} does.
 */
public final class SerializationConflictException extends ConflictException {
  private static final long serialVersionUID = 1L;

  SerializationConflictException(String message, String cure) {
    super(ConflictReason.NOT_SERIALIZABLE, message, cure, /* holder= */ 0);
  }

  @Override
  ConflictException fresh(String said, String ownCure, long ownHolder) {
    return new SerializationConflictException(said, ownCure);
  }
}
