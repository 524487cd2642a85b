"""Parts of other packages, as a researcher would add them."""
