/**
 * The commands {@code check}, {@code page} and {@code stat}, one class per verb. They need picocli,
 * which is not a dependency of the engine's users; no other part of the engine may use this
 * package.
 *
 * <p>Reading order: {@code Main}; {@code CheckCommand}, which opens the database; {@code
 * PageCommand} and {@code StatCommand}, which read its files as they are, through {@code
 * DatabaseDirectory}.
 */
package org.revenantdb.engine.cli;
