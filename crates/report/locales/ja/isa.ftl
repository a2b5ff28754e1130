# isa
